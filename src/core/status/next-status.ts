import { isDeepStrictEqual } from 'node:util';
import type { Candidate } from '../model/image-reference.ts';
import { countRollouts, rolloutStatesOf } from '../rollout/count-rollouts.ts';
import { resultCondition } from '../model/decisive-condition.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { answered, nextReverted, withPendingApproval, type Asked } from './next-actions.ts';
import { nextConditions } from './next-conditions.ts';
import { isOutdated } from './is-outdated.ts';
import { lastChanges, nextHistory, type LastChanges } from './next-history.ts';
import { completeHistory } from '../plan/past.ts';
import { resolveTargets } from '../model/resolve-target.ts';
import type { Outcome, Postponement } from '../plan/outcome.ts';
import type { AppliedChange } from '../plan/plan-update.ts';
import {
  maxLengths,
  type Condition,
  type LatestImage,
  type PolicyStatus,
  type Trigger,
  type TriggerSource,
  type Waiting,
} from '../model/policy-status.ts';
import { rolloutConditions } from './condition-states.ts';
import type { Reason } from '../model/reasons.ts';
import { compareTags } from '../select/select-tag.ts';
import { seeTargets, type TargetsView } from '../plan/seen-targets.ts';
import { type NewImage, showChanges, showSeen, showTargets } from './target-states.ts';
import { cut, toSeconds, toTime } from '../model/text.ts';
import { isPending, nextPending } from '../plan/pending-candidate.ts';

/** What caused the reconcile. */
export interface ReconcileCause extends Asked {
  readonly source: TriggerSource;
  readonly receivedAt: string;
  /** The push whose audit record is kept, and the receiver that accepted it. */
  readonly eventId?: string;
  readonly receiver?: string;
  /** The reconcile evaluated only the tag that a push or the like named: another reconcile has to evaluate what else a new generation selects. */
  readonly isHinted?: boolean;
}

type StatusOwner = Pick<ImagePolicy, 'uid' | 'generation' | 'namespace' | 'spec' | 'status' | 'actions'>;

/** `lastCheckTime` alone is written at most this often. */
const checkTimeStepMs = 60_000;

/**
 * The status after a result, or undefined if there is nothing to write. Conditions and fields of other writers are not
 * changed. With `view`, the rollouts are evaluated as well.
 */
export function nextStatus(
  policy: StatusOwner,
  result: Outcome | Postponement,
  cause: ReconcileCause,
  now: Date,
  view?: TargetsView,
): PolicyStatus | undefined {
  const isOverdue = (policy.status.observedGeneration ?? 0) > policy.generation;
  if (result.kind === 'ignored') return addChanges(policy, result, { cause, now, view });
  if (result.kind === 'postponed' && isOverdue) return undefined;
  if (result.kind !== 'postponed' && (isOverdue || isOvertaken(policy, result) || isOutdated(policy, result, view)))
    return addChanges(policy, result, { cause, now, view });
  const { waiting: current, ...rest } = policy.status;
  const isBeside = leavesConditions(policy.status, result, cause);
  const resolved = result.kind === 'postponed' ? result : resolvePending(result, current);
  const old = resolved.kind === 'postponed' ? rest : withPendingApproval(rest, resolved);
  const told = {
    ...old,
    ...(resolved.kind === 'postponed' ? postponed(resolved, current) : { ...reconciled(old, resolved, cause, now), ...answered(cause) }),
  };
  const complete = { ...told, ...pastAfter(told, policy, now, view) };
  const past = resolved.kind === 'postponed' || cause.rollback === undefined ? complete : endRollback(complete, policy, cause);
  const found = { ...past, ...targetsAfter({ ...policy, status: old }, result, view) };
  const rollouts = view && rolloutStatesOf({ ...policy, status: found }, view, now);
  const counts = rollouts && countRollouts({ spec: policy.spec, status: found }, rollouts, now);
  const states = rollouts && rolloutConditions({ ...policy, status: found }, rollouts, now);
  const next: PolicyStatus = {
    ...found,
    ...(counts !== undefined && { rollouts: counts }),
    ...(cause.isHinted !== true && { observedGeneration: policy.generation }),
    ...(isBeside ? keptWait(current, result) : { conditions: nextConditions(policy, resolved, now, states) }),
  };
  return isWorthWriting(policy.status, next, now) ? next : undefined;
}

/** Another replica has already selected something newer, which the status describes by now. */
function isOvertaken(policy: Pick<ImagePolicy, 'spec' | 'status'>, { selection }: Outcome): boolean {
  return selection?.isNamed === true && isOlderThanSelected(policy, selection.candidate.tag);
}

/** Whether the policy has selected a newer tag, as far as the names show that. */
export function isOlderThanSelected({ spec, status }: Pick<ImagePolicy, 'spec' | 'status'>, tag: string): boolean {
  const latest = status.latest?.tag;
  if (latest === undefined || !isUsable(spec)) return false;
  const { strategy } = spec;
  // Where tag names have no order, they do not show which image is newer.
  if (strategy.mutableTag !== undefined || strategy.withCreationTimes !== undefined || strategy.reject(latest) !== undefined) return false;
  return compareTags(strategy, tag, latest) < 0;
}

/** What only the registry can clear; the spec has jobs of its own. */
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
  'PlatformMissing',
  'NotAnImage',
  'NotSigned',
  'SignatureInvalid',
  'VerificationKeyInvalid',
  'TrustRootMissing',
  'InvalidTagPolicy',
]);

/**
 * An older tag that changes nothing neither resolves what keeps the policy from selecting, nor a Stalled condition of the selected one, nor ends its wait. What was selected earlier says nothing about a
 * registry that was not asked.
 */
function leavesConditions(
  { conditions = [], waiting }: PolicyStatus,
  result: Outcome | Postponement,
  { isHinted }: ReconcileCause,
): boolean {
  const told = resultCondition(conditions);
  const isUnasked = clearedByAsking.has(told?.reason ?? '');
  if (result.kind !== 'postponed' && result.isRemembered === true) return isUnasked;
  if (isHinted !== true || result.kind !== 'unchanged' || result.selection !== undefined) return false;
  if (told?.type === 'Stalled' || (isUnasked && waiting?.tag !== result.tag)) return true;
  return result.pending === undefined && waiting?.tag !== undefined && waiting.tag !== result.tag;
}

/** Keeps `waiting` as it is, unless the reconcile evaluated the pending candidate. */
function keptWait(waiting: Waiting | undefined, result: Outcome | Postponement): Pick<PolicyStatus, 'waiting'> {
  const isSeen = result.kind !== 'postponed' && result.isRemembered !== true && result.pending !== undefined;
  return isSeen || waiting === undefined ? {} : { waiting };
}

/** Records the changes that were made, and nothing else. */
function addChanges(
  policy: StatusOwner,
  outcome: Outcome,
  { cause, now, view }: { readonly cause: ReconcileCause; readonly now: Date; readonly view: TargetsView | undefined },
): PolicyStatus | undefined {
  const { status } = policy;
  // What was found without a record has no time of its own, and may be over.
  const ours = (outcome.ours ?? []).filter(({ update }) => update !== undefined);
  const history = nextHistory(status, { ...outcome, ours }, cause.source, now) ?? status.history;
  const past = { ...lastChanges(history), ...pastAfter({ ...status, ...(history && { history }) }, policy, now, view) };
  const next = past.history === undefined || past.history === status.history ? status : { ...status, ...past };
  const told = outcome.reason === 'Withdrawn' ? endRollback(next, policy, cause) : next;
  return told.history === status.history && told.rollback === status.rollback ? undefined : told;
}

/** The history with what the workloads record and it lacks, and what follows from it; nothing where it lacks nothing. */
function pastAfter(
  next: PolicyStatus,
  { uid, namespace, spec, status }: StatusOwner,
  now: Date,
  view: TargetsView | undefined,
): LastChanges {
  if (view === undefined || !isUsable(spec)) return {};
  const { history = [] } = next;
  const complete = completeHistory(history, { uid, namespace, status }, resolveTargets(spec.targets, view), now);
  return complete === history ? {} : lastChanges(complete);
}

/** The status without a rollback that is over: this reconcile has answered it, or nobody asks for it any more. */
function endRollback({ rollback, ...status }: PolicyStatus, { actions }: StatusOwner, cause: ReconcileCause): PolicyStatus {
  const isOpen = rollback !== undefined && rollback.request !== cause.rollback && rollback.request === actions?.rollbackTo;
  return isOpen ? { ...status, rollback } : status;
}

/** The outcome with the pending candidate that remains: another replica may have replaced it in the meantime. */
function resolvePending({ pending, ...outcome }: Outcome, current: Waiting | undefined): Outcome {
  const next = nextPending(current, pending, outcome.selection?.candidate);
  return next === undefined ? outcome : { ...outcome, pending: { next } };
}

function postponed({ until, reason, tag, digest }: Postponement, current: Waiting | undefined): { waiting?: Waiting } {
  if (isPending(current)) return { waiting: current };
  if (until === undefined) return {};
  // Rounded up, so that the wait is over at that time.
  const time = toSeconds(new Date(Math.ceil(until.getTime() / 1_000) * 1_000));
  return {
    waiting: { ...(tag !== undefined && { tag: cut(tag, maxLengths.tag) }), ...(digest !== undefined && { digest }), until: time, reason },
  };
}

function reconciled(old: PolicyStatus, outcome: Outcome, cause: ReconcileCause, now: Date): PolicyStatus {
  const { selection, pending } = outcome;
  const waiting = pending?.next;
  const latest = nextLatest(old.latest, selection?.candidate, outcome.basis?.selectedAt ?? now.getTime());
  const history = nextHistory(old, outcome, cause.source, now);
  const newest = history?.[0];
  const reverted = nextReverted(old.reverted ?? [], outcome);
  const hasAsked =
    outcome.isRemembered !== true && (outcome.kind === 'updated' || outcome.kind === 'unchanged' || outcome.kind === 'waiting');
  return {
    ...(waiting !== undefined && { waiting }),
    ...(latest !== undefined && { latest }),
    ...(reverted.length > 0 && { reverted }),
    ...((newest !== undefined || isOther(old.latest, latest)) && { trigger: toTrigger(cause, now) }),
    ...(hasAsked && { lastCheckTime: toSeconds(now) }),
    ...lastChanges(history),
  };
}

/**
 * What the targets run: as the reconcile read it, so that the conditions say the same, or where it did not come so far, as the workloads are now. Nothing where
 * neither is known.
 */
function targetsAfter(
  policy: Pick<ImagePolicy, 'namespace' | 'spec' | 'status'>,
  result: Outcome | Postponement,
  view: TargetsView | undefined,
): ReturnType<typeof showSeen> {
  const { status } = policy;
  if (result.kind === 'postponed') return showWithView(policy, view) ?? {};
  const { selection, seen, changes = [] } = result;
  if (selection !== undefined) return showTargets(selection.containers, status);
  const made = changes.map(newImageOf);
  if (seen !== undefined) return showSeen(status, seen, made);
  return showWithView(policy, view) ?? showChanges(status, made);
}

function showWithView(
  policy: Pick<ImagePolicy, 'namespace' | 'spec' | 'status'>,
  view: TargetsView | undefined,
): ReturnType<typeof showSeen> | undefined {
  const seen = view && seeTargets(policy, view);
  return seen && showSeen(policy.status, seen);
}

/** The status with what the targets run, or undefined if it says that already. */
export function withSeenTargets(
  policy: Pick<ImagePolicy, 'namespace' | 'spec' | 'status'>,
  view: TargetsView,
  now: Date,
): PolicyStatus | undefined {
  const next = { ...policy.status, ...showWithView(policy, view) };
  return isWorthWriting(policy.status, next, now) ? next : undefined;
}

function newImageOf({ workload, container, from, to, became = to }: AppliedChange): NewImage {
  return { workload, container, image: became, message: `changed from ${from} to ${became}` };
}

function nextLatest(old: LatestImage | undefined, selected: Candidate | undefined, selectedAt: number): LatestImage | undefined {
  if (selected === undefined) return old;
  const { tag, digest, createdAt } = selected;
  const image = { tag, ...(digest !== undefined && { digest }), ...(createdAt !== undefined && { createdAt }) };
  return old === undefined || isOther(old, image) ? { ...image, selectedAt: toTime(new Date(selectedAt)) } : { ...old, ...image };
}

/** Whether the tag differs, or the same tag points to another digest; a digest that merely becomes known does not count. */
function isOther(old: Candidate | undefined, next: Candidate | undefined): boolean {
  if (old?.tag !== next?.tag) return true;
  return old?.digest !== undefined && next?.digest !== undefined && old.digest !== next.digest;
}

function toTrigger({ source, receiver, eventId, receivedAt }: ReconcileCause, now: Date): Trigger {
  return {
    source,
    ...(receiver !== undefined && { receiver: cut(receiver, maxLengths.receiver) }),
    ...(eventId !== undefined && { event: cut(eventId, maxLengths.event) }),
    receivedAt,
    // With milliseconds: users want to know the time between receivedAt and handledAt.
    handledAt: now.toISOString(),
  };
}

/** Whether a status says anything new; a reconcile that found nothing new is written at most once a minute. */
export function isWorthWriting(old: PolicyStatus, next: PolicyStatus, now: Date): boolean {
  const { lastCheckTime: oldTime, conditions: oldConditions = [], ...oldRest } = old;
  const { lastCheckTime: nextTime, conditions: nextConditions = [], ...nextRest } = next;
  if (!isDeepStrictEqual(byType(oldConditions), byType(nextConditions)) || !isDeepStrictEqual(oldRest, nextRest)) return true;
  if (nextTime === oldTime) return false;
  // In this form, an unreadable time counts as none.
  const isRecent = oldTime !== undefined && now.getTime() - Date.parse(oldTime) < checkTimeStepMs;
  return !isRecent;
}

/** The order of conditions means nothing. */
function byType(conditions: readonly Condition[]): readonly Condition[] {
  return conditions.toSorted((a, b) => (a.type < b.type ? -1 : 1));
}
