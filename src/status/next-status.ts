import { isDeepStrictEqual } from 'node:util';
import type { Candidate } from '../model/image-reference.ts';
import { countRollouts, rolloutStatesOf } from '../rollout/count-rollouts.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { answered, nextReverted, withPendingApproval, type Asked } from './next-actions.ts';
import { nextConditions } from './next-conditions.ts';
import { nextHistory } from './next-history.ts';
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
import type { WorkloadView } from '../model/resolve-target.ts';
import { rolloutConditions } from './condition-states.ts';
import { compareTags } from '../select/select-tag.ts';
import { type NewImage, showChanges, showTargets } from './target-states.ts';
import { cut, toSeconds } from '../model/text.ts';
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

/** `lastCheckTime` alone is written at most this often. */
const checkTimeStepMs = 60_000;

/**
 * The status after a result, or undefined if there is nothing to write. Conditions and fields of other writers are not
 * changed. With `view`, the rollouts are evaluated as well.
 */
export function nextStatus(
  policy: Pick<ImagePolicy, 'uid' | 'generation' | 'namespace' | 'spec' | 'status'>,
  result: Outcome | Postponement,
  cause: ReconcileCause,
  now: Date,
  view?: WorkloadView,
): PolicyStatus | undefined {
  const isOverdue = (policy.status.observedGeneration ?? 0) > policy.generation;
  if (result.kind === 'ignored' || isOverdue) return undefined;
  if (result.kind !== 'postponed' && isOvertaken(policy, result)) return addChanges(policy.status, result, cause, now);
  const { waiting: current, ...rest } = policy.status;
  const isBeside = leavesConditions(policy.status, result, cause);
  const resolved = result.kind === 'postponed' ? result : resolvePending(result, current);
  const old = resolved.kind === 'postponed' ? rest : withPendingApproval(rest, resolved);
  const found = {
    ...old,
    ...(resolved.kind === 'postponed' ? postponed(resolved, current) : { ...reconciled(old, resolved, cause, now), ...answered(cause) }),
  };
  const rollouts = view && rolloutStatesOf({ ...policy, status: found }, view, now);
  const counts = rollouts && countRollouts({ spec: policy.spec, status: found }, rollouts, now);
  const states = rollouts && rolloutConditions({ spec: policy.spec, status: found }, rollouts);
  const next: PolicyStatus = {
    ...found,
    ...(counts !== undefined && { rollouts: counts }),
    ...(cause.isHinted !== true && { observedGeneration: policy.generation }),
    ...(isBeside ? keptWait(current, result) : { conditions: nextConditions(policy, resolved, now, states) }),
  };
  return isWorthWriting(policy.status, next, now) ? next : undefined;
}

/** Another replica has already selected something newer, which the status describes by now. */
function isOvertaken({ spec, status }: Pick<ImagePolicy, 'spec' | 'status'>, { selection }: Outcome): boolean {
  const latest = status.latest?.tag;
  if (selection?.isNamed !== true || latest === undefined || !isUsable(spec)) return false;
  const { strategy } = spec;
  // Where tag names have no order, they do not show which image is newer.
  if (strategy.mutableTag !== undefined || strategy.withCreationTimes !== undefined || strategy.reject(latest) !== undefined) return false;
  return compareTags(strategy, selection.candidate.tag, latest) < 0;
}

/** An older tag that changes nothing neither resolves a Stalled condition of the selected one nor ends its wait. */
function leavesConditions(
  { conditions = [], waiting }: PolicyStatus,
  result: Outcome | Postponement,
  { isHinted }: ReconcileCause,
): boolean {
  if (isHinted !== true || result.kind !== 'unchanged' || result.selection !== undefined) return false;
  const isStalled = conditions.some(({ type, status }) => type === 'Stalled' && status === 'True');
  return isStalled || (result.pending === undefined && waiting?.tag !== undefined && waiting.tag !== result.tag);
}

/** Keeps `waiting` as it is, unless the reconcile evaluated the pending candidate. */
function keptWait(waiting: Waiting | undefined, result: Outcome | Postponement): Pick<PolicyStatus, 'waiting'> {
  const isSeen = result.kind !== 'postponed' && result.pending !== undefined;
  return isSeen || waiting === undefined ? {} : { waiting };
}

/** Records the changes that were made, and nothing else. */
function addChanges(status: PolicyStatus, outcome: Outcome, cause: ReconcileCause, now: Date): PolicyStatus | undefined {
  const history = nextHistory(status, { ...outcome, ours: [], isOvertaken: true }, cause.source, now);
  const [newest] = history ?? [];
  return history === undefined || newest === undefined ? undefined : { ...status, history, lastAppliedTag: newest.tag };
}

/** The outcome with the pending candidate that remains: another replica may have replaced it in the meantime. */
function resolvePending({ pending, ...outcome }: Outcome, current: Waiting | undefined): Outcome {
  const next = nextPending(current, pending);
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
  const { selection, pending, changes = [] } = outcome;
  const waiting = pending?.next;
  const latest = nextLatest(old.latest, selection?.candidate, now);
  const history = nextHistory(old, outcome, cause.source, now);
  const newest = history?.[0];
  const reverted = nextReverted(old.reverted ?? [], outcome);
  const hasAsked = outcome.kind === 'updated' || outcome.kind === 'unchanged' || outcome.kind === 'waiting';
  return {
    ...(waiting !== undefined && { waiting }),
    ...(latest !== undefined && { latest }),
    ...(reverted.length > 0 && { reverted }),
    ...((newest !== undefined || isOther(old.latest, latest)) && { trigger: toTrigger(cause, now) }),
    ...(hasAsked && { lastCheckTime: toSeconds(now) }),
    ...(selection === undefined ? showChanges(old, changes.map(newImageOf)) : showTargets(selection.containers)),
    ...(history !== undefined && newest !== undefined && { history, lastAppliedTag: newest.tag }),
  };
}

function newImageOf({ workload, container, from, to, became = to }: AppliedChange): NewImage {
  return { workload, container, image: became, message: `changed from ${from} to ${became}` };
}

function nextLatest(old: LatestImage | undefined, selected: Candidate | undefined, now: Date): LatestImage | undefined {
  if (selected === undefined) return old;
  const { tag, digest, createdAt } = selected;
  const image = { tag, ...(digest !== undefined && { digest }), ...(createdAt !== undefined && { createdAt }) };
  return old === undefined || isOther(old, image) ? { ...image, selectedAt: toSeconds(now) } : { ...old, ...image };
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
