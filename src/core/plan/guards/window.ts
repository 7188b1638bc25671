import { nextOpening } from '../next-opening.ts';
import { toSeconds } from '../../model/text.ts';
import { formatWorkload } from '../../model/workload.ts';
import type { Guard } from './guard.ts';

/** Delays an update outside the policy's windows until the next one opens. */
export const window: Guard = {
  id: 'window',
  bindsRollback: false,
  check({ target }, { spec, candidate, now }) {
    const until = nextOpening(spec.windows, now);
    if (until === undefined) return undefined;
    const message = `${candidate.tag} is applied to ${formatWorkload(target)} when the next window opens: ${toSeconds(until)}`;
    return { kind: 'waits', reason: 'Window', message, until };
  },
};
