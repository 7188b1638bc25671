/** The status after a check of rollouts: their results and counts, with the conditions that follow from them. */
import { resultCondition } from '../model/decisive-condition.ts';
import { defined } from '../model/defined.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { isStop } from '../model/guard-reasons.ts';
import type { Condition, PolicyStatus } from '../model/policy-status.ts';
import { isReason } from '../model/reasons.ts';
import { maxLengths } from '../model/status-fields.ts';
import { cut, toSeconds } from '../model/text.ts';
import { formatWorkload } from '../model/workload.ts';
import { isReleased } from '../plan/guards/released.ts';
import { waveReasons } from '../plan/guards/wave.ts';
import { describeWaiting, isPending } from '../plan/pending-candidate.ts';
import { exceptionOf } from '../plan/security-rules.ts';
import { findRejection } from '../plan/rejections.ts';
import type { RolloutProgress, RolloutState } from '../rollout/count-rollouts.ts';
import { describeBlocked, retriesOf, type RolloutConditions, rolloutConditions } from './condition-states.ts';
import { nextConditions, withHeldRollouts } from './next-conditions.ts';
import { latestApplied } from './next-latest.ts';
import { isWorthWriting } from './is-worth-writing.ts';

/** Ready conditions with any other reason belong to other reconciles and are not changed. */
const ownReasons: ReadonlySet<string> = new Set([
  'UpToDate',
  'Progressing',
  'RolloutFailed',
  'RejectedDigest',
  'RolloutRetry',
  'RetriesExhausted',
  ...waveReasons,
]);

/** The status with the conditions that its rollouts require; undefined if there is nothing to write. `policy`: with the status before. */
export function withRollouts(policy: ImagePolicy, { status, states: rollouts }: RolloutProgress, now: Date): PolicyStatus | undefined {
  const latest = latestApplied({ spec: policy.spec, status }, status.latest);
  const counted = withoutFailedWait({ ...status, ...defined({ latest }) }, policy, now);
  const told = resultCondition(policy.status.conditions ?? []);
  const isOurs = isUsable(policy.spec) && policy.status.observedGeneration === policy.generation && ownReasons.has(told?.reason ?? '');
  if (!isOurs) {
    const { conditions } = counted;
    const held = conditions && rolloutConditions({ ...policy, status: counted }, rollouts, now);
    const beside = held === undefined ? counted : { ...counted, conditions: withHeldRollouts(policy, conditions ?? [], held, now) };
    return isWorthWriting(policy.status, beside, now) ? beside : undefined;
  }
  const changed = withRetry({ ...policy, status: counted }, rollouts, now);
  const states = rolloutConditions({ ...policy, status: changed }, rollouts, now);
  const running = describeRunning(changed);
  const { waiting } = changed;
  const result = isPending(waiting)
    ? ({
        kind: 'waiting',
        reason: waiting.reason,
        message: describeWaiting(waiting, changed.incomplete, whyKept(policy, changed)),
        running,
        pending: { next: waiting },
      } as const)
    : ({ kind: 'unchanged', reason: 'UpToDate', message: running, running } as const);
  const isLeft = (told?.reason === 'RejectedDigest' || told?.reason === 'RetriesExhausted') && states.instead === undefined;
  const next = isLeft ? changed : { ...changed, conditions: withKept(nextConditions(policy, result, now, states), changed, states) };
  return isWorthWriting(policy.status, next, now) ? next : undefined;
}

/** The conditions with the reason in Ready why containers keep another image, which the rollouts of the image before it had replaced. */
function withKept(conditions: readonly Condition[], { targets = [] }: PolicyStatus, { notes }: RolloutConditions): readonly Condition[] {
  const kept = targets.flatMap(({ companion, state, reason = '', message = '' }) =>
    companion !== true && state === 'Kept' && isStop(reason) && isReason(reason) ? [{ reason, message }] : [],
  );
  const found = describeBlocked(kept);
  if (found === undefined) return conditions;
  const message = cut([found.message, ...notes].join('; '), maxLengths.message);
  return conditions.map((condition) =>
    condition.type === 'Ready' && condition.reason === 'UpToDate' ? { ...condition, reason: found.reason, message } : condition,
  );
}

/** Why the policy makes no exception for the image that waits; undefined if it has none for this wait. */
function whyKept({ spec }: ImagePolicy, { waiting, vulnerabilities }: PolicyStatus): string | undefined {
  if (!isUsable(spec) || !isPending(waiting)) return undefined;
  const exception = exceptionOf(waiting.reason, spec, waiting, vulnerabilities);
  return exception?.holds === false ? exception.why : undefined;
}

/** An image that is rejected, and not released since, waits for nothing: a replica whose cache was behind may have written that it does. */
function withoutFailedWait(status: PolicyStatus, { actions }: ImagePolicy, now: Date): PolicyStatus {
  const { waiting, ...others } = status;
  const rejection = isPending(waiting) ? findRejection(status, waiting) : undefined;
  return rejection === undefined || isReleased(new Date(rejection.at), actions, now) ? status : others;
}

/** The status with the wait for the next try of an image that is not to blame for its failed rollout, unless another image waits. */
function withRetry(policy: ImagePolicy, rollouts: readonly RolloutState[], now: Date): PolicyStatus {
  const { status } = policy;
  const { latest, waiting } = status;
  const times = retriesOf(policy, rollouts, now).flatMap(({ until }) => (until === undefined ? [] : [until.getTime()]));
  if (latest === undefined || times.length === 0 || isPending(waiting)) return status;
  const { tag, digest, setDigest } = latest;
  // Rounded up, so that the wait is over at that time.
  const until = toSeconds(new Date(Math.ceil(Math.min(...times) / 1_000) * 1_000));
  return { ...status, waiting: { tag, ...defined({ digest, setDigest }), since: toSeconds(now), until, reason: 'RolloutRetry' } };
}

/** Describes what the targets run as the status shows it. A target that runs something else is evaluated again. */
function describeRunning({ targets = [] }: PolicyStatus): string {
  const runs = targets.flatMap((state) => (state.image === undefined ? [] : [`${formatWorkload(state)} runs ${state.image}`]));
  return [...new Set(runs)].join('; ') || 'every workload runs the selected image';
}
