/** The list of wings. A product without one of them is this tree without its folder and its lines here. */
import { bases } from './bases/wing.ts';
import { conversion } from './conversion/wing.ts';
import { dashboard } from './dashboard/wing.ts';
import { notify } from './notify/wing.ts';
import type { Wing } from './service/compose/wing.ts';

export const wings: readonly Wing[] = [bases, conversion, notify, dashboard];
