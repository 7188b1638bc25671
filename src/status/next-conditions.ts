import { consentAnnotation } from '../plan/consent.ts';
import { describeGone } from '../plan/running-images.ts';
import type { ImagePolicy } from '../model/image-policy.ts';
import type { Outcome, Postponement } from '../plan/outcome.ts';
import {
  blockedConditions,
  type ConditionState,
  conditionTypes,
  describeBlocked,
  isBlocked,
  type RolloutConditions,
} from './condition-states.ts';
import { type Condition, maxLengths } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';
import { cut, toSeconds } from '../model/text.ts';
import { describeWaiting } from '../plan/pending-candidate.ts';
import { formatWorkload } from '../model/workload.ts';

type PolicyPart = Pick<ImagePolicy, 'generation' | 'namespace' | 'spec' | 'status'>;

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
export function nextConditions(policy: PolicyPart, result: Outcome | Postponement, now: Date, rollouts?: RolloutConditions): Condition[] {
  const old = policy.status.conditions ?? [];
  const states = [
    ...withRollouts(result, rollouts),
    ...crossNamespace(policy, result),
    ...tagGone(result),
    ...blockedConditions(blockedIn(result) ?? []),
  ];
  // Conditions are a list map: only the first of each type counts.
  const isFirst = ({ type }: ConditionState, index: number) => states.findIndex((state) => state.type === type) === index;
  const own = states.filter(isFirst).map(({ type, status, reason, message }): Condition => {
    const previous = old.find((condition) => condition.type === type);
    const lastTransitionTime = previous?.status === status ? previous.lastTransitionTime : toSeconds(now);
    return { type, status, reason, message: cut(message, maxLengths.message), lastTransitionTime, observedGeneration: policy.generation };
  });
  const isNotEvaluated = ({ type, reason, observedGeneration }: Condition) =>
    (type === 'CrossNamespace' && legacyIn(result) === undefined) ||
    (isBlocked({ type, reason }) && blockedIn(result) === undefined && !states.some((state) => state.type === type)) ||
    (type === 'TagGone' && goneBy(result) === undefined && observedGeneration === policy.generation);
  return [...own, ...old.filter((condition) => !ownTypes.includes(condition.type) || isNotEvaluated(condition))];
}

function withRollouts(result: Outcome | Postponement, rollouts: RolloutConditions | undefined): ConditionState[] {
  const states = mainConditions(result);
  if (rollouts === undefined) return states;
  const { instead, notes, held } = rollouts;
  const isContent = result.kind === 'updated' || result.kind === 'unchanged';
  if (isContent && instead !== undefined) return [...instead, ...held];
  const noted = states.map((state) => (isContent ? { ...state, message: [state.message, ...notes].join('; ') } : state));
  return [...noted, ...held];
}

function mainConditions(result: Outcome | Postponement): ConditionState[] {
  const { reason, message } = result;
  switch (result.kind) {
    case 'updated':
    case 'unchanged':
    case 'waiting':
      if (result.pending?.next !== undefined) return reconciling(result.pending.next.reason, describeWaiting(result.pending.next));
      return [{ type: 'Ready', status: 'True', ...whatIs(result) }];
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

/** The state is as the spec asks, even if the spec or a user blocks something. */
function whatIs({ blocked = [], running, message }: Outcome): Pick<ConditionState, 'reason' | 'message'> {
  return describeBlocked(blocked) ?? { reason: 'UpToDate', message: running ?? message };
}

/** What is blocked of what the policy selects; undefined where the reconcile evaluated something else. */
function blockedIn(result: Outcome | Postponement): Outcome['blocked'] {
  if (result.kind === 'suspended') return [];
  return result.kind === 'postponed' || result.selection === undefined ? undefined : (result.blocked ?? []);
}

function crossNamespace({ namespace }: PolicyPart, result: Outcome | Postponement): ConditionState[] {
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
  // The tag of an image that was just applied exists.
  return result.kind === 'updated' ? (result.gone ?? []) : result.gone;
}

function legacyIn(result: Outcome | Postponement): Outcome['legacy'] {
  return result.kind === 'postponed' ? undefined : result.legacy;
}
