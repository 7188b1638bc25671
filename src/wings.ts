/** The list of wings. A product without one of them is this tree without its folder and its line here. */
import type { Wing } from './service/compose/wing.ts';

export const wings: readonly Wing[] = [];
