/** Decides which pushes are retried while a registry refuses all credentials. An outage of its token service looks the same as wrong credentials. */
import type { ReconcileCause } from '../../core/status/next-status.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import type { TriggerSource } from '../../core/model/policy-status.ts';

/** Causes that do not recur by themselves. Users can repeat a request, polls recur, and a changed policy, target or Secret is a cause of its own. */
const notRepeated: ReadonlySet<TriggerSource> = new Set<TriggerSource>(['Webhook', 'WaitOver', 'Approval']);

/** How many of the newest pushes of a policy are kept. The pushes of a policy that is always refused would otherwise pile up for a day. */
const maxWaiting = 32;
const maxPolicies = 10_000;
/** The time after which a push is given up. */
const lifeMs = 24 * 3_600_000;

/** The pushes that wait for a retry, by policy, as far as this process knows. Each retry adds its push again. */
export interface DeniedPushes {
  /** Returns the outcome, with the time of the next try only if there will be a next try. */
  recordResult(outcome: Outcome, uid: string, cause: ReconcileCause, isLastTry: boolean): Outcome;
}

/** When the cause became known, for `ImageSource.causedAt`; undefined if the registry is to be asked in any case. */
export function causedAt({ source, receivedAt }: ReconcileCause, isLastTry: boolean): number | undefined {
  return notRepeated.has(source) && !isLastTry ? Date.parse(receivedAt) : undefined;
}

/** Creates an empty memory of denied pushes. */
export function createDeniedPushes(now: () => number): DeniedPushes {
  // The policies with waiting pushes, in the order of their last use.
  const policies = new Map<string, { readonly pushes: Map<string, number>; usedAt: number }>();
  /** Whether a push may wait for a retry. Newer pushes replace the oldest ones, whose images the next poll finds. */
  const mayWait = (uid: string, { eventId, receivedAt, source }: ReconcileCause): boolean => {
    const { pushes } = policies.get(uid) ?? { pushes: new Map<string, number>() };
    policies.delete(uid);
    policies.set(uid, { pushes, usedAt: now() });
    for (const [longestAgo, { usedAt }] of policies) {
      if (policies.size <= maxPolicies && now() - usedAt < lifeMs) break;
      policies.delete(longestAgo);
    }
    const id = eventId ?? source;
    pushes.set(id, Date.parse(receivedAt));
    if (pushes.size <= maxWaiting) return true;
    const [oldest] = [...pushes].reduce((first, other) => (other[1] < first[1] ? other : first));
    pushes.delete(oldest);
    return oldest !== id;
  };
  return {
    recordResult({ retryAt, ...outcome }, uid, cause, isLastTry) {
      if (retryAt !== undefined && notRepeated.has(cause.source) && !isLastTry && mayWait(uid, cause)) return { ...outcome, retryAt };
      if (retryAt === undefined && (outcome.kind !== 'ignored' || outcome.reason === 'PolicyGone')) policies.delete(uid);
      return outcome;
    },
  };
}
