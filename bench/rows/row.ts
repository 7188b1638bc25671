/** What a row of the table is: measured in one run, told in figures. */
import type { BenchWorld } from '../world/world.ts';

/** One number, with the floor's beside it where there is one. */
export interface Figure {
  readonly name: string;
  readonly product: number;
  readonly floor?: number;
  readonly ratio?: number;
  readonly unit: string;
  /** What is to be reached, in words, and whether it was. */
  readonly target?: string;
  readonly reached?: boolean;
}

export interface RowResult {
  readonly figures: readonly Figure[];
  /** What the figures were made of. */
  readonly raw: Readonly<Record<string, unknown>>;
}

export interface Row {
  /** As in `npm run bench -- ID`. */
  readonly id: string;
  /** What is measured, and how. */
  readonly title: string;
  /** `quick`: only that it works; its numbers say nothing. */
  run(world: BenchWorld, quick: boolean): Promise<RowResult>;
}

/** A figure that must not be above a limit times the floor (or, of things that one wants much of, not below). */
export function compared(
  figure: Pick<Figure, 'name' | 'unit'> & { readonly product: number; readonly floor: number },
  limit: { readonly atMost: number } | { readonly atLeast: number } | undefined,
): Figure {
  const ratio = figure.product / figure.floor;
  if (limit === undefined) return { ...figure, ratio };
  const isMost = 'atMost' in limit;
  const reached = isMost ? ratio <= limit.atMost : ratio >= limit.atLeast;
  return { ...figure, ratio, target: isMost ? `≤ ${limit.atMost} × floor` : `≥ ${limit.atLeast} × floor`, reached };
}

/** A figure that must not be above (or below) a number of its own. */
export function limited(
  figure: Pick<Figure, 'name' | 'unit' | 'product'>,
  limit: { readonly below: number } | { readonly atMost: number } | { readonly atLeast: number } | { readonly exactly: number },
): Figure {
  if ('below' in limit) return { ...figure, target: `< ${limit.below}`, reached: figure.product < limit.below };
  if ('atMost' in limit) return { ...figure, target: `≤ ${limit.atMost}`, reached: figure.product <= limit.atMost };
  if ('atLeast' in limit) return { ...figure, target: `≥ ${limit.atLeast}`, reached: figure.product >= limit.atLeast };
  return { ...figure, target: `${limit.exactly}`, reached: figure.product === limit.exactly };
}
