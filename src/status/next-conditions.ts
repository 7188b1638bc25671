import { consentAnnotation } from '../plan/consent.ts';
import { describeGone } from '../plan/gone-tags.ts';
import type { ImagePolicy } from '../model/image-policy.ts';
import type { Outcome, Postponement } from '../plan/outcome.ts';
import type { ConditionState } from './condition-state.ts';
import type { Condition } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';
import type { RolloutConditions } from './rollout-conditions.ts';
import { describeBlocked, isBlocked, blockedConditions, blockedTypes } from './blocked-conditions.ts';
import { cut, toSeconds } from '../model/status-text.ts';
import { describeWaiting } from '../plan/waiting.ts';
import { formatWorkload } from '../model/workload.ts';

type Judged = Pick<ImagePolicy, 'generation' | 'namespace' | 'spec' | 'status'>;

const ownTypes = ['Ready', 'Reconciling', 'Stalled', 'CrossNamespace', 'TagGone', ...blockedTypes];
const maxMessageLength = 1024;

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
export function nextConditions(policy: Judged, ending: Outcome | Postponement, now: Date, rollouts?: RolloutConditions): Condition[] {
  const old = policy.status.conditions ?? [];
  const states = [
    ...withRollouts(ending, rollouts),
    ...crossNamespace(policy, ending),
    ...tagGone(ending),
    ...blockedConditions(blockedIn(ending) ?? []),
  ];
  // Conditions are a list map: only the first of each type counts.
  const isFirst = ({ type }: ConditionState, index: number) => states.findIndex((state) => state.type === type) === index;
  const own = states.filter(isFirst).map(({ type, status, reason, message }): Condition => {
    const previous = old.find((condition) => condition.type === type);
    const lastTransitionTime = previous?.status === status ? previous.lastTransitionTime : toSeconds(now);
    return { type, status, reason, message: cut(message, maxMessageLength), lastTransitionTime, observedGeneration: policy.generation };
  });
  const isUnjudged = ({ type, reason, observedGeneration }: Condition) =>
    (type === 'CrossNamespace' && legacyIn(ending) === undefined) ||
    (isBlocked({ type, reason }) && blockedIn(ending) === undefined && !states.some((state) => state.type === type)) ||
    (type === 'TagGone' && goneBy(ending) === undefined && observedGeneration === policy.generation);
  return [...own, ...old.filter((condition) => !ownTypes.includes(condition.type) || isUnjudged(condition))];
}

function withRollouts(ending: Outcome | Postponement, rollouts: RolloutConditions | undefined): ConditionState[] {
  const states = mainConditions(ending);
  if (rollouts === undefined) return states;
  const { instead, notes, held } = rollouts;
  const isContent = ending.kind === 'updated' || ending.kind === 'unchanged';
  if (isContent && instead !== undefined) return [...instead, ...held];
  const noted = states.map((state) => (isContent ? { ...state, message: [state.message, ...notes].join('; ') } : state));
  return [...noted, ...held];
}

function mainConditions(ending: Outcome | Postponement): ConditionState[] {
  const { reason, message } = ending;
  switch (ending.kind) {
    case 'updated':
    case 'unchanged':
    case 'waiting':
      if (ending.pending?.next !== undefined) return reconciling(ending.pending.next.reason, describeWaiting(ending.pending.next));
      return [{ type: 'Ready', status: 'True', ...whatIs(ending) }];
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
function blockedIn(ending: Outcome | Postponement): Outcome['blocked'] {
  if (ending.kind === 'suspended') return [];
  return ending.kind === 'postponed' || ending.selection === undefined ? undefined : (ending.blocked ?? []);
}

function crossNamespace({ namespace }: Judged, ending: Outcome | Postponement): ConditionState[] {
  const legacy = legacyIn(ending) ?? [];
  if (legacy.length === 0) return [];
  const message =
    `updated without the consent of its owners, because the configuration says crossNamespace: legacy: ${legacy.map(formatWorkload).join(', ')}. ` +
    `Let them annotate it, or its Namespace, with ${consentAnnotation}: "${namespace}" ("image-watcher consents" lists all that is missing)`;
  return [{ type: 'CrossNamespace', status: 'True', reason: 'NoConsent', message }];
}

function tagGone(ending: Outcome | Postponement): ConditionState[] {
  const gone = goneBy(ending) ?? [];
  return gone.length === 0 ? [] : [{ type: 'TagGone', status: 'True', reason: 'TagGone', message: describeGone(gone) }];
}

function goneBy(ending: Outcome | Postponement): Outcome['gone'] {
  if (ending.kind === 'postponed') return undefined;
  // The tag of an image that was just applied exists.
  return ending.kind === 'updated' ? (ending.gone ?? []) : ending.gone;
}

function legacyIn(ending: Outcome | Postponement): Outcome['legacy'] {
  return ending.kind === 'postponed' ? undefined : ending.legacy;
}
