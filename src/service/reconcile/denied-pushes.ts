/** Decides which pushes are retried while a registry refuses all credentials: an outage of its token service looks the same as wrong credentials. */
import type { ReconcileCause } from '../../core/status/next-status.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import type { TriggerSource } from '../../core/model/policy-status.ts';

/** Causes that do not recur. Users can repeat a request, polls recur, and a changed policy, target or Secret is a cause of its own. */
const notRepeated: ReadonlySet<TriggerSource> = new Set<TriggerSource>(['Webhook', 'WaitOver', 'Approval']);

/** Pushes of a policy that is always refused would pile up for a day, so only this many of the newest are kept. */
const maxWaiting = 32;
const maxPolicies = 10_000;
/** Every push is given up after this time. */
const lifeMs = 24 * 3_600_000;

/** The pushes that wait for a retry, by policy, as far as this process knows: each retry adds its push again. */
export interface DeniedPushes {
  /** The outcome, which keeps the time of the next try only where there will be one. */
  recordResult(outcome: Outcome, uid: string, cause: ReconcileCause, isLastTry: boolean): Outcome;
}

/** When the cause became known, for `ImageSource.causedAt`; undefined where the registry is to be asked in any case. */
export function causedAt({ source, receivedAt }: ReconcileCause, isLastTry: boolean): number | undefined {
  return notRepeated.has(source) && !isLastTry ? Date.parse(receivedAt) : undefined;
}

/** Starts without any pushes. */
export function createDeniedPushes(now: () => number): DeniedPushes {
  // The most recently used come last.
  const policies = new Map<string, { readonly pushes: Map<string, number>; usedAt: number }>();
  /** Newer pushes replace the oldest, whose images the next poll finds. */
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
