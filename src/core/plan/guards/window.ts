import { nextOpening } from '../next-opening.ts';
import { toSeconds } from '../../model/text.ts';
import { formatWorkload } from '../../model/workload.ts';
import { exceptionOf } from '../security-rules.ts';
import type { Guard } from './guard.ts';

/** Delays an update outside the policy's windows until the next one opens, unless it fixes a vulnerability for which the policy makes an exception. */
export const window: Guard = {
  id: 'window',
  bindsRollback: false,
  check({ target }, { spec, candidate, assessments, now }) {
    const until = nextOpening(spec.windows, now);
    if (until === undefined) return undefined;
    const exception = exceptionOf('Window', spec, candidate, assessments);
    if (exception?.holds === true) return undefined;
    const opens = `${candidate.tag} is applied to ${formatWorkload(target)} when the next window opens: ${toSeconds(until)}`;
    const message = exception === undefined ? opens : `${opens}. It does not skip that wait: ${exception.why}`;
    return { kind: 'waits', reason: 'Window', message, until };
  },
};
