import type { TagStrategy } from '../../model/tag-strategy.ts';

/** Selects the last tag in the order of code units. */
export function alphabetical(): TagStrategy {
  return {
    id: 'alphabetical',
    description: 'the alphabetically last tag',
    reject: () => undefined,
    compare: (a, b) => (a === b ? 0 : a < b ? -1 : 1),
  };
}
