import { countApprovals } from '../plan/approvals.ts';
import { consentAnnotation } from '../model/consent-annotation.ts';
import { describeGone } from '../plan/running-images.ts';
import { decisiveCondition } from '../model/decisive-condition.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import type { Outcome, Postponement } from '../plan/outcome.ts';
import {
  blockedConditions,
  type ConditionState,
  conditionTypes,
  describeBlocked,
  isBlocked,
  type RolloutConditions,
} from './condition-states.ts';
import type { Condition, PolicyStatus } from '../model/policy-status.ts';
import { isApproved } from '../model/policy-actions.ts';
import { isReason, type Reason } from '../model/reasons.ts';
import { isDecision } from '../plan/rejections.ts';
import { toCondition } from '../model/to-condition.ts';
import { describeWaiting } from '../plan/pending-candidate.ts';
import { formatWorkload } from '../model/workload.ts';

const rolloutFailed: Reason = 'RolloutFailed';
const ownTypes: readonly string[] = conditionTypes;

/**
 * The conditions after a result (kstatus: Ready is always present, the others only while they are true). Conditions of other writers are not changed.
 *
 * | result               | Ready | also                                          |
 * | -------------------- | ----- | --------------------------------------------- |
 * | updated, unchanged   | True  | Held, ApprovalRequired: something is blocked |
 * | suspended            | True  | the spec asks for this: nothing to wait for   |
 * | stalled              | False | Stalled: the user must act                    |
 * | postponed, or waiting after any but stalled and suspended | False | Reconciling: a retry follows |
 *
 * The rollout status takes precedence over "updated" and "unchanged": a policy is Ready only when its update is rolled out.
 */
export function nextConditions(policy: ImagePolicy, found: Outcome | Postponement, now: Date, rollouts?: RolloutConditions): Condition[] {
  const old = policy.status.conditions ?? [];
  const result = withoutKnownFailures(found, policy.status);
  const states = [
    ...withRollouts(result, rollouts).map((state) => withBlockedBefore(state, policy, result)),
    ...crossNamespace(policy, result),
    ...tagGone(result),
    ...blockedConditions(blockedIn(result) ?? []),
  ];
  // The first state of each type counts, because conditions are a list map.
  const isFirst = ({ type }: ConditionState, index: number) => states.findIndex((state) => state.type === type) === index;
  const own = states.filter(isFirst).map((state) => toCondition(state, old, policy.generation, now));
  const isNotEvaluated = ({ type, reason, observedGeneration }: Condition) =>
    (type === 'CrossNamespace' && legacyIn(result) === undefined) ||
    (isBlocked({ type, reason }) &&
      blockedIn(result) === undefined &&
      !states.some((state) => state.type === type) &&
      !isAnswered(type, policy, now)) ||
    (type === 'TagGone' && goneBy(result) === undefined && observedGeneration === policy.generation);
  return withDecisiveReady([...own, ...old.filter((condition) => !ownTypes.includes(condition.type) || isNotEvaluated(condition))]);
}

/** The conditions if only the rollouts were evaluated, and other results decide whether the policy is Ready. */
export function withHeldRollouts(
  policy: ImagePolicy,
  conditions: readonly Condition[],
  { held: [held] }: RolloutConditions,
  now: Date,
): readonly Condition[] {
  const isReplaced = ({ type, reason }: Condition) => type === 'Held' && (held !== undefined || reason === rolloutFailed);
  const others = conditions.filter((condition) => !isReplaced(condition));
  return held === undefined ? others : [...others, toCondition(held, conditions, policy.generation, now)];
}

/**
 * The result without holds for failures in the history. A workload's own record of a rollback holds the image until the history has the rollback, which may be
 * later than the reconcile. The failed image is then refused, and needs no hold. What a user decided remains a hold.
 */
function withoutKnownFailures(result: Outcome | Postponement, { history = [], rejected = [] }: PolicyStatus): Outcome | Postponement {
  if (result.kind === 'postponed' || result.blocked === undefined || result.digest === undefined) return result;
  const isKnown = history.some((entry) => entry.result === 'RolledBack' && entry.digest === result.digest);
  if (!isKnown || rejected.some(isDecision)) return result;
  return { ...result, blocked: result.blocked.filter(({ reason }) => reason !== 'RejectedDigest') };
}

/** Whether an approval was given. Then the change waits for something else. */
function isAnswered(type: string, policy: ImagePolicy, now: Date): boolean {
  const { pendingApproval } = policy.status;
  if (type !== 'ApprovalRequired' || pendingApproval === undefined) return false;
  const { spec } = policy;
  const count = isUsable(spec) ? countApprovals({ ...policy, spec }, pendingApproval, now) : undefined;
  return count?.isEnough ?? isApproved(policy.actions, pendingApproval);
}

/** Keeps the reason of Ready after a reconcile of another image than the selected one, which does not show what blocks the selected one. */
function withBlockedBefore(state: ConditionState, { generation, status }: ImagePolicy, result: Outcome | Postponement): ConditionState {
  if (state.type !== 'Ready' || state.reason !== 'UpToDate' || blockedIn(result) !== undefined) return state;
  const before = status.conditions?.find(({ type }) => type === 'Ready');
  if (before?.status !== 'True' || before.observedGeneration !== generation || !isReason(before.reason)) return state;
  return before.reason === 'UpToDate' || before.reason === 'Suspended'
    ? state
    : { ...state, reason: before.reason, message: before.message };
}

/** The conditions with the decisive reason in Ready. Printer columns and metrics use Ready alone, so it must show changes that are still blocked. */
function withDecisiveReady(conditions: readonly Condition[]): Condition[] {
  const decisive = decisiveCondition(conditions);
  return conditions.map((condition) =>
    condition.type !== 'Ready' || decisive === undefined || decisive.reason === condition.reason
      ? condition
      : { ...condition, reason: decisive.reason, message: decisive.message },
  );
}

function withRollouts(result: Outcome | Postponement, rollouts: RolloutConditions | undefined): ConditionState[] {
  const states = mainConditions(result);
  if (rollouts === undefined) return states;
  const { instead, notes, held } = rollouts;
  // An image that failed on some targets may still be rolled out, or rolled back, on others.
  const isContent = result.kind === 'updated' || result.kind === 'unchanged' || result.reason === 'RejectedDigest';
  // A current rollout, or a failed one that was not rolled back, has precedence over a wait.
  const comesFirst = instead?.some(({ reason }) => reason === 'Progressing' || reason === 'RolloutFailed') === true;
  if (instead !== undefined && (isContent || (result.kind === 'waiting' && comesFirst))) return [...instead, ...held];
  const takesNotes = isContent || result.kind === 'waiting';
  const noted = states.map((state) => (takesNotes ? { ...state, message: [state.message, ...notes].join('; ') } : state));
  return [...noted, ...held];
}

function mainConditions(result: Outcome | Postponement): ConditionState[] {
  const { reason, message } = result;
  switch (result.kind) {
    case 'updated':
    case 'unchanged':
    case 'waiting':
      if (result.pending?.next !== undefined)
        return reconciling(result.pending.next.reason, describeWaiting(result.pending.next, result.sets, result.pending.kept));
      return result.kind === 'waiting' ? reconciling(reason, message) : [{ type: 'Ready', status: 'True', ...whatIs(result) }];
    case 'suspended':
      return [{ type: 'Ready', status: 'True', reason, message }];
    case 'stalled':
      return [
        { type: 'Ready', status: 'False', reason, message },
        { type: 'Stalled', status: 'True', reason, message },
      ];
    case 'postponed':
      return reconciling(reason, message);
    case 'ignored':
      return [];
  }
}

function reconciling(reason: Reason, message: string): ConditionState[] {
  return [
    { type: 'Ready', status: 'False', reason, message },
    { type: 'Reconciling', status: 'True', reason, message },
  ];
}

/** The reason and message of Ready. The state is as specified, even if the spec or a user blocks something. */
function whatIs(result: Outcome): Pick<ConditionState, 'reason' | 'message'> {
  return describeBlocked(blockedIn(result) ?? []) ?? { reason: 'UpToDate', message: result.running ?? result.message };
}

/** The blocked changes to the selected image; undefined if the reconcile evaluated another image. */
function blockedIn(result: Outcome | Postponement): Outcome['blocked'] {
  if (result.kind === 'suspended') return [];
  if (result.kind === 'postponed') return undefined;
  // Without targets, nothing is blocked, whatever image was evaluated.
  if (result.seen?.every(({ container }) => container === undefined) === true) return [];
  return result.selection === undefined ? undefined : (result.blocked ?? []);
}

function crossNamespace({ namespace }: ImagePolicy, result: Outcome | Postponement): ConditionState[] {
  const legacy = legacyIn(result) ?? [];
  if (legacy.length === 0) return [];
  const message =
    `updated without the consent of its owners, because the configuration says crossNamespace: legacy: ${legacy.map(formatWorkload).join(', ')}. ` +
    `Let them annotate it, or its Namespace, with ${consentAnnotation}: "${namespace}" ("image-watcher consents" lists all that is missing)`;
  return [{ type: 'CrossNamespace', status: 'True', reason: 'NoConsent', message }];
}

function tagGone(result: Outcome | Postponement): ConditionState[] {
  const gone = goneBy(result) ?? [];
  return gone.length === 0 ? [] : [{ type: 'TagGone', status: 'True', reason: 'TagGone', message: describeGone(gone) }];
}

function goneBy(result: Outcome | Postponement): Outcome['gone'] {
  if (result.kind === 'postponed') return undefined;
  // The tag of an image that was just applied is not gone.
  return result.kind === 'updated' ? (result.gone ?? []) : result.gone;
}

function legacyIn(result: Outcome | Postponement): Outcome['legacy'] {
  return result.kind === 'postponed' ? undefined : result.legacy;
}
