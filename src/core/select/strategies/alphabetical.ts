import type { Order, TagStrategy } from '../../model/tag-strategy.ts';

/** Selects the last tag in the order of code units (Descending: the first). */
export function alphabetical(options: { order?: Order } = {}): TagStrategy {
  const sign = options.order === 'Descending' ? -1 : 1;
  return {
    id: 'alphabetical',
    description: `the alphabetically ${sign === 1 ? 'last' : 'first'} tag`,
    reject: () => undefined,
    compare: (a, b) => (a === b ? 0 : a < b ? -sign : sign),
  };
}
