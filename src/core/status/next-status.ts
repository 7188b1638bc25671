import { isDeepStrictEqual } from 'node:util';
import { defined } from '../model/defined.ts';
import { withoutDisproved } from '../rollout/health.ts';
import { countRollouts, rolloutStatesOf } from '../rollout/count-rollouts.ts';
import { resultCondition } from '../model/decisive-condition.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { nextReverted, withAnswers, withApprovals, withPendingApproval, withRejection, type Asked } from './next-actions.ts';
import { nextConditions } from './next-conditions.ts';
import { nextIncomplete } from './next-incomplete.ts';
import { isOlder, isOlderThanSelected, isOlderThanShown, stoppedTag } from './is-older.ts';
import { isOutdated } from './is-outdated.ts';
import { isWorthWriting } from './is-worth-writing.ts';
import { nextHistory } from './next-history.ts';
import { withAnnounced } from './next-announced.ts';
import { isOther, latestApplied, nextLatest } from './next-latest.ts';
import { completeHistory, lastChanges, type LastChanges } from '../plan/past.ts';
import { snapshotOf, type TargetSnapshot } from '../model/target-snapshot.ts';
import type { Outcome, Postponement } from '../plan/outcome.ts';
import type { AppliedChange } from '../plan/plan-update.ts';
import type { PolicyStatus, Trigger, TriggerSource, Waiting } from '../model/policy-status.ts';
import { maxLengths } from '../model/status-fields.ts';
import { rolloutConditions } from './condition-states.ts';
import type { Candidate } from '../model/image-reference.ts';
import type { PushEvent } from '../model/push-event.ts';
import type { Reason } from '../model/reasons.ts';
import { seeTargets, type TargetsView } from '../plan/seen-targets.ts';
import { type NewImage, showChanges, showSeen, showTargets } from '../plan/target-states.ts';
import { cut, toSeconds } from '../model/text.ts';
import { beginChecks, checksOf } from '../plan/check-records.ts';
import { isPending, nextPending } from '../plan/pending-candidate.ts';
import { isNewWait } from './superseded.ts';

/** The cause of a reconcile. */
export interface ReconcileCause extends Asked {
  readonly source: TriggerSource;
  readonly receivedAt: string;
  /** The push whose audit record is updated, and the receiver that accepted it. */
  readonly eventId?: string;
  readonly receiver?: string;
  /** The push that caused the reconcile, if its match with the policy is recorded together with the result. */
  readonly push?: PushEvent;
  /** Whether the reconcile evaluated only the tag that a push or the like named. Another reconcile has to evaluate what a new generation selects. */
  readonly isHinted?: boolean;
  /** The image that the push has announced, of the repository of the policy. The outcome may be about another one. */
  readonly pushed?: Pick<Candidate, 'tag' | 'digest'>;
}

/**
 * The status after a result; undefined if there is nothing to write. Conditions and fields of other writers are not changed. With `view`, the rollouts are
 * evaluated as well.
 */
export function nextStatus(
  policy: ImagePolicy,
  result: Outcome | Postponement,
  { cause, now }: { readonly cause: ReconcileCause; readonly now: Date },
  view?: TargetsView,
): PolicyStatus | undefined {
  const isOverdue = (policy.status.observedGeneration ?? 0) > policy.generation;
  const snapshot = view && snapshotOf(policy, view, now);
  if (result.kind === 'ignored') return addChanges(policy, result, { cause, now, snapshot });
  if (result.kind === 'postponed' && isOverdue) return undefined;
  if (result.kind !== 'postponed' && (isOverdue || isOvertaken(policy, result, cause) || isOutdated(policy, result, view)))
    return addChanges(policy, result, { cause, now, snapshot });
  const { waiting, refused, ...rest } = policy.status;
  const isBeside = leavesConditions(policy, result, cause);
  const resolved = result.kind === 'postponed' ? result : resolvePending(result, waiting);
  const old = resolved.kind === 'postponed' ? rest : withDecisions(rest, policy, resolved, now);
  const told =
    resolved.kind === 'postponed'
      ? { ...old, ...postponed(resolved, waiting) }
      : withAnswers({ ...old, ...reconciled({ ...old, ...defined({ waiting }) }, resolved, cause, now) }, cause, resolved);
  const complete = withApplied({ ...told, ...pastAfter(told, policy, now, snapshot) }, policy, result.kind === 'postponed' ? {} : result);
  const past = resolved.kind === 'postponed' || cause.rollback === undefined ? complete : endRollback(complete, policy, cause);
  const found = withChecks({ ...past, ...targetsAfter({ ...policy, status: old }, result, view) }, policy, result, now);
  const current = { ...policy, status: found };
  const rollouts = snapshot && rolloutStatesOf(current, snapshot);
  const counts = rollouts && countRollouts(current, rollouts, now);
  const states = rollouts && rolloutConditions(current, rollouts, now);
  const next: PolicyStatus = {
    ...withEvidence(withFollowed(snapshot ? withoutDisproved(found, policy, snapshot) : found, result), result),
    ...defined({ rollouts: counts }),
    ...(cause.isHinted !== true && { observedGeneration: policy.generation }),
    ...(isBeside
      ? { ...keptWait(waiting, result), ...defined({ refused }) }
      : { conditions: nextConditions(policy, resolved, now, states) }),
  };
  const announced = withAnnounced(next, policy, result, cause);
  return isWorthWriting(policy.status, announced, now) ? announced : undefined;
}

/** The status with what the followed policies show. */
function withFollowed(status: PolicyStatus, result: Outcome | Postponement): PolicyStatus {
  if (result.kind === 'postponed' || result.follows === undefined) return status;
  const { follows: _, ...others } = status;
  return result.follows.length === 0 ? others : { ...others, follows: result.follows };
}

/** The status with what is known of the vulnerabilities of the images that are not applied yet. */
function withEvidence(status: PolicyStatus, result: Outcome | Postponement): PolicyStatus {
  if (result.kind === 'postponed' || result.assessments === undefined) return status;
  const { vulnerabilities: _, ...others } = status;
  return result.assessments.length === 0 ? others : { ...others, vulnerabilities: result.assessments };
}

/** The status in which the checks of an image that waits for nothing else have begun. */
function withChecks(status: PolicyStatus, policy: ImagePolicy, result: Outcome | Postponement, now: Date): PolicyStatus {
  const image = result.kind === 'postponed' ? undefined : result.toCheck;
  if (image === undefined || !isUsable(policy.spec)) return status;
  return beginChecks(status, policy, { checks: checksOf(policy.spec, 'before'), image, now });
}

/** The status with what people have decided about the selected image, or have to. */
function withDecisions(status: PolicyStatus, policy: ImagePolicy, outcome: Outcome, now: Date): PolicyStatus {
  const pending = withPendingApproval(status, policy, outcome);
  return withApprovals(withRejection(pending, policy, outcome, now), policy, outcome, now);
}

/**
 * Whether the status describes a newer image, which another replica or an earlier push has selected. What holds up an older one that was pushed, such as its
 * rejection, says nothing about the selected one.
 */
function isOvertaken(policy: ImagePolicy, { kind, tag, selection, refused }: Outcome, { isHinted }: ReconcileCause): boolean {
  if (selection !== undefined) return selection.isNamed === true && isOlderThanSelected(policy, selection.candidate.tag);
  if (isHinted === true && refused !== undefined && isOlderThanShown(policy, refused.tag)) return true;
  const isHeldUp = isHinted === true && (kind === 'stalled' || kind === 'waiting');
  return isHeldUp && tag !== undefined && isOlderThanSelected(policy, tag);
}

/** Reasons that only a request to the registry can clear. A change of the spec has its own job. */
const clearedByAsking: ReadonlySet<string> = new Set<Reason>([
  'NoMatchingTag',
  'RepositoryNotFound',
  'RegistryDenied',
  'RegistryRefused',
  'RegistryThrottled',
  'RegistryUnavailable',
  'RegistryBusy',
  'NotShownYet',
  'Retrying',
  'TagNotFound',
  'CompanionMissing',
  'PlatformMissing',
  'NotAnImage',
  'OtherArtifact',
  'NotSigned',
  'SignatureInvalid',
  'VerificationKeyInvalid',
  'TrustRootMissing',
  'InvalidTagPolicy',
]);

/**
 * Whether a result leaves the conditions unchanged. An older tag that changes nothing neither resolves a problem of the selection, nor ends a wait of the
 * selected image, and one that is applied does not change that a newer one is refused. A comparison with a remembered selection shows nothing about the registry,
 * and a rollback that was not done nothing about the policy.
 */
function leavesConditions(policy: ImagePolicy, result: Outcome | Postponement, { isHinted }: ReconcileCause): boolean {
  const { conditions = [], waiting } = policy.status;
  const told = resultCondition(conditions);
  const isUnasked = clearedByAsking.has(told?.reason ?? '');
  if (result.reason === 'NoEarlierImage') return true;
  if (result.kind !== 'postponed' && result.isRemembered === true) return isUnasked;
  if (isHinted !== true || (result.kind !== 'unchanged' && result.kind !== 'updated')) return false;
  if (result.tag !== undefined && isOlder(policy.spec, result.tag, stoppedTag(policy))) return true;
  if (result.kind !== 'unchanged' || result.selection !== undefined) return false;
  if (told?.type === 'Stalled' || (isUnasked && waiting?.tag !== result.tag)) return true;
  return result.pending === undefined && waiting?.tag !== undefined && waiting.tag !== result.tag;
}

/** Keeps `waiting` as it is, unless the reconcile evaluated the pending candidate. */
function keptWait(waiting: Waiting | undefined, result: Outcome | Postponement): Pick<PolicyStatus, 'waiting'> {
  const isSeen = result.kind !== 'postponed' && result.isRemembered !== true && result.pending !== undefined;
  return isSeen || waiting === undefined ? {} : { waiting };
}

/** Records the changes that were made, and what was selected for them, and nothing else. */
function addChanges(
  policy: ImagePolicy,
  outcome: Outcome,
  { cause, now, snapshot }: { readonly cause: ReconcileCause; readonly now: Date; readonly snapshot: TargetSnapshot | undefined },
): PolicyStatus | undefined {
  const { status } = policy;
  // An image without a record has no time of its own, and may have been replaced since.
  const ours = (outcome.ours ?? []).filter(({ update }) => update !== undefined);
  const history = nextHistory(status, { ...outcome, ours }, cause.source, now) ?? status.history;
  const past = { ...lastChanges(history), ...pastAfter({ ...status, ...defined({ history }) }, policy, now, snapshot) };
  const next = withApplied({ ...status, ...past }, policy, { changes: outcome.changes ?? [] });
  const told = outcome.reason === 'Withdrawn' ? endRollback(next, policy, cause) : next;
  return isDeepStrictEqual(told, status) ? undefined : told;
}

/** The status with what the policy has applied as its selection, if that is newer. */
function withApplied(next: PolicyStatus, { spec, status }: ImagePolicy, outcome: Parameters<typeof latestApplied>[2]): PolicyStatus {
  return { ...next, ...defined({ latest: latestApplied({ spec, status: next }, status.latest, outcome) }) };
}

/** The history fields with the missing changes that the workloads record; empty if none is missing. */
function pastAfter(
  next: PolicyStatus,
  { uid, namespace, status }: ImagePolicy,
  now: Date,
  snapshot: TargetSnapshot | undefined,
): LastChanges {
  if (snapshot === undefined) return {};
  const { history = [] } = next;
  const complete = completeHistory(history, { uid, namespace, status }, snapshot.targets, now);
  return complete === history ? {} : lastChanges(complete);
}

/** The status without a finished rollback: this reconcile has answered it, or its request was withdrawn. */
function endRollback({ rollback, ...status }: PolicyStatus, { actions }: ImagePolicy, cause: ReconcileCause): PolicyStatus {
  const isOpen = rollback !== undefined && rollback.request !== cause.rollback && rollback.request === actions?.rollbackTo;
  return isOpen ? { ...status, rollback } : status;
}

/** The outcome with the remaining pending candidate. Another replica may have replaced it in the meantime. */
function resolvePending({ pending, ...outcome }: Outcome, current: Waiting | undefined): Outcome {
  const next = nextPending(current, pending, outcome.selection?.candidate);
  const kept = next === pending?.next ? pending?.kept : undefined;
  return next === undefined ? outcome : { ...outcome, pending: { next, ...defined({ kept }) } };
}

function postponed({ until, reason, tag, digest }: Postponement, current: Waiting | undefined): { waiting?: Waiting } {
  if (isPending(current)) return { waiting: current };
  if (until === undefined) return {};
  // Rounded up, so that the wait is over at the time that is shown.
  const time = toSeconds(new Date(Math.ceil(until.getTime() / 1_000) * 1_000));
  return {
    waiting: { ...(tag !== undefined && { tag: cut(tag, maxLengths.tag) }), ...defined({ digest }), until: time, reason },
  };
}

function reconciled(old: PolicyStatus, outcome: Outcome, cause: ReconcileCause, now: Date): PolicyStatus {
  const { selection, pending, refused } = outcome;
  const waiting = pending?.next;
  const latest = nextLatest(old.latest, selection?.candidate, outcome.basis?.selectedAt ?? now.getTime());
  const history = nextHistory(old, outcome, cause.source, now);
  const newest = history?.[0];
  const reverted = nextReverted(old.reverted ?? [], outcome);
  const incomplete = nextIncomplete(old.incomplete ?? [], outcome.sets);
  const hasAsked =
    outcome.isRemembered !== true && (outcome.kind === 'updated' || outcome.kind === 'unchanged' || outcome.kind === 'waiting');
  return {
    ...defined({ waiting, refused: refused && { ...refused, tag: cut(refused.tag, maxLengths.tag) }, latest }),
    ...(reverted.length > 0 && { reverted }),
    ...((incomplete.length > 0 || old.incomplete !== undefined) && { incomplete }),
    ...((newest !== undefined || isOther(old.latest, latest) || isNewWait(old, { latest, waiting })) && { trigger: toTrigger(cause, now) }),
    ...(hasAsked && { lastCheckTime: toSeconds(now) }),
    ...lastChanges(history),
  };
}

/**
 * The running images of the targets, as the reconcile read them, so that the conditions fit. If it did not get that far, they are read from the workloads now.
 * Empty if neither is known.
 */
function targetsAfter(policy: ImagePolicy, result: Outcome | Postponement, view: TargetsView | undefined): ReturnType<typeof showSeen> {
  const { status } = policy;
  if (result.kind === 'postponed') return showWithView(policy, view) ?? {};
  const { selection, seen, changes = [] } = result;
  if (selection !== undefined) return showTargets(selection.containers, status);
  const made = changes.map(newImageOf);
  if (seen !== undefined) return showSeen(status, seen, made);
  return showWithView(policy, view) ?? showChanges(status, made);
}

function showWithView(policy: ImagePolicy, view: TargetsView | undefined): ReturnType<typeof showSeen> | undefined {
  const seen = view && seeTargets(policy, view);
  return seen && showSeen(policy.status, seen);
}

/** The status with the running images of the targets; undefined if it has them already. */
export function withSeenTargets(policy: ImagePolicy, view: TargetsView, now: Date): PolicyStatus | undefined {
  const next = { ...policy.status, ...showWithView(policy, view) };
  return isWorthWriting(policy.status, next, now) ? next : undefined;
}

function newImageOf({ workload, container, from, to, became = to }: AppliedChange): NewImage {
  return { workload, container, image: became, message: `changed from ${from} to ${became}` };
}

function toTrigger({ source, receiver, eventId, receivedAt }: ReconcileCause, now: Date): Trigger {
  return {
    source,
    ...(receiver !== undefined && { receiver: cut(receiver, maxLengths.receiver) }),
    ...(eventId !== undefined && { event: cut(eventId, maxLengths.event) }),
    receivedAt,
    // The time has milliseconds, because users want to know the time between receivedAt and handledAt.
    handledAt: now.toISOString(),
  };
}
