import type { TagStrategy } from '../../model/tag-strategy.ts';

/** Selects the greatest whole number, with any number of digits. Nothing is coerced: `1.5` and `v7` are not numbers. */
export function numerical(): TagStrategy {
  return {
    id: 'numerical',
    description: 'the numerically greatest tag',
    reject: (tag) => (/^[0-9]+$/.test(tag) ? undefined : `"${tag}" is not a whole number`),
    compare: compareNumbers,
  };
}

/** Numbers are compared as text, because a double cannot represent a timestamp followed by a counter exactly. */
function compareNumbers(a: string, b: string): number {
  const [left, right] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  if (left.length !== right.length) return left.length - right.length;
  return left === right ? 0 : left < right ? -1 : 1;
}
