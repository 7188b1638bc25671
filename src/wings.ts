/** The list of wings. To remove a wing from the product, delete its folder and its lines here. */
import { activity } from './activity/wing.ts';
import { bases } from './bases/wing.ts';
import { conversion } from './conversion/wing.ts';
import { dashboard } from './dashboard/wing.ts';
import { notify } from './notify/wing.ts';
import type { Wing } from './service/compose/wing.ts';

export const wings: readonly Wing[] = [activity, bases, conversion, notify, dashboard];
