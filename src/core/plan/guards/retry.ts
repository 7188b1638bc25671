import { actionAnnotations } from '../../model/policy-actions.ts';
import { toSeconds } from '../../model/text.ts';
import { formatWorkload } from '../../model/workload.ts';
import { failedTries, retryPausesMs } from '../retries.ts';
import type { Guard } from './guard.ts';
import { holdDecision } from './released.ts';

/** Delays an image whose rollout failed for another reason than the image. It is tried again after a pause, a few times. */
export const retry: Guard = {
  id: 'retry',
  bindsRollback: false,
  check({ target, workload, changes }, { candidate, policy, now }) {
    const tried = changes.flatMap(({ container }) => (workload && failedTries({ workload, container, candidate }, policy, now)) ?? []);
    const [last] = tried.toSorted((a, b) => b.failures - a.failures);
    if (last === undefined || (last.until !== undefined && last.until <= now)) return undefined;
    const what = `${candidate.tag} on ${formatWorkload(target)}`;
    const hint = `release it: annotation ${actionAnnotations.release}: "<time>"`;
    const { until, failures, why } = last;
    if (until !== undefined) {
      const message =
        `${what} is tried again at ${toSeconds(until)} (${failures} of ${retryPausesMs.length}), because its rollout failed for another reason than the ` +
        `image: ${why}. To try it now, ${hint}`;
      return { kind: 'waits', reason: 'RolloutRetry', message, until };
    }
    const message = `${describeGivenUp(what, failures, why)}, ${hint}`;
    const decision = holdDecision({ reason: 'RetriesExhausted', message }, policy.actions, now);
    return decision.kind === 'waits' ? decision : { ...decision, kind: 'refused' };
  },
};

/** Explains to users that an image is not tried again automatically. The end of the sentence says how to have it tried. */
export function describeGivenUp(what: string, failures: number, why: string): string {
  return `${what} failed ${failures} rollouts for another reason than the image, and is not tried again by itself: ${why}. Mend that, then push a newer image, edit the policy, or`;
}
