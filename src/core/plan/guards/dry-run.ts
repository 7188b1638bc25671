import { formatWorkload } from '../../model/workload.ts';
import type { Guard } from './guard.ts';

/** Blocks every change of a dry run, which only reports. */
export const dryRun: Guard = {
  id: 'dry-run',
  bindsRollback: true,
  check({ target, changes }, { spec }) {
    if (spec.mode !== 'DryRun') return undefined;
    const what = changes.map(({ container, from, to }) => `${container} from ${from} to ${to}`).join(' and ');
    return { kind: 'blocked', reason: 'DryRun', message: `dry run: ${formatWorkload(target)} would be changed: ${what}` };
  },
};
