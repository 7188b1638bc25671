import type { Order, TagStrategy } from '../../model/tag-strategy.ts';

/** Selects the greatest whole number (Descending: the smallest), with any number of digits. Nothing is coerced: `1.5` and `v7` are not numbers. */
export function numerical(options: { order?: Order } = {}): TagStrategy {
  const isDescending = options.order === 'Descending';
  return {
    id: 'numerical',
    description: `the numerically ${isDescending ? 'smallest' : 'greatest'} tag`,
    reject: (tag) => (/^[0-9]+$/.test(tag) ? undefined : `"${tag}" is not a whole number`),
    compare: (a, b) => (isDescending ? compareNumbers(b, a) : compareNumbers(a, b)),
  };
}

/** Numbers are compared as text, because a double cannot represent a timestamp followed by a counter exactly. */
function compareNumbers(a: string, b: string): number {
  const [left, right] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  if (left.length !== right.length) return left.length - right.length;
  return left === right ? 0 : left < right ? -1 : 1;
}
