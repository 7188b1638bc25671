import type { Condition, PolicyStatus, RejectedImage } from '../model/policy-status.ts';
import { reasonsWith } from '../model/guard-reasons.ts';
import { maxLengths } from '../model/status-fields.ts';
import type { Reason } from '../model/reasons.ts';
import type { RolloutState } from '../rollout/count-rollouts.ts';
import { isOpen } from '../rollout/current-rollouts.ts';
import { lastUpdateOf } from '../model/last-update.ts';
import { type ImagePolicy, isUsable } from '../model/image-policy.ts';
import { cut, listFew } from '../model/text.ts';
import { describeFailedHere, describeRejection, findRejection, isDecision, isRejectionOf } from '../plan/rejections.ts';
import { wholeDigest } from '../model/companions.ts';
import { formatWorkload, type Workload } from '../model/workload.ts';
import { isReleased } from '../plan/guards/released.ts';
import { describeGivenUp } from '../plan/guards/retry.ts';
import { failedTries, type FailedTries } from '../plan/retries.ts';
import type { Blocked } from '../plan/plan-update.ts';

/** Every type of condition that image-watcher sets. A policy may also have conditions of other writers. */
export const conditionTypes = ['Ready', 'Reconciling', 'Stalled', 'CrossNamespace', 'TagGone', 'Held', 'ApprovalRequired'] as const;

export type ConditionType = (typeof conditionTypes)[number];

/** A condition to report, before it is merged with the previous conditions. */
export type ConditionState = Pick<Condition, 'status' | 'message'> & { readonly type: ConditionType; readonly reason: Reason };

/** The effect of the rollouts on the conditions of a policy. */
export interface RolloutConditions {
  /** Conditions in place of a Ready condition that says that the selected image runs everywhere. */
  readonly instead?: readonly ConditionState[];
  /** Notes for the message of a policy that is Ready, or that waits. */
  readonly notes: readonly string[];
  readonly held: readonly ConditionState[];
}

/**
 * The conditions for each state of the rollouts.
 *
 * | the rollouts                     | Ready | also                                             |
 * | -------------------------------- | ----- | ------------------------------------------------ |
 * | one failed                       | False | Stalled; with onFailure: Hold also Held          |
 * | one is in progress               | False | Reconciling: Ready means that the update is out  |
 * | one failed and was rolled back   | False | Stalled: what is selected does not run           |
 * |   and the image is not to blame  | False | Reconciling: it is tried again; Stalled when it was tried too often |
 * | done, or not watched             |       | Ready as without rollouts                        |
 */
export function rolloutConditions(policy: ImagePolicy, rollouts: readonly RolloutState[], now: Date): RolloutConditions {
  const { spec, status } = policy;
  if (!isUsable(spec) || spec.rollout === undefined) return { notes: [], held: [] };
  const { onFailure } = spec.rollout;
  const open = rollouts.filter(({ entries, evaluation }) => evaluation.kind !== 'done' && entries.some(isOpen));
  const failed = open.filter(({ entries }) => entries.some(({ result }) => result === 'Failed'));
  const underway = open.filter(({ evaluation }) => evaluation.kind === 'progressing' || evaluation.kind === 'failed');
  const still = open.filter(({ evaluation }) => evaluation.kind === 'notWatched');
  const notes = still.length === 0 ? [] : [listFew(still, ({ evaluation }) => evaluation.message)];
  if (failed.length > 0) {
    const message = listFew(failed, (rollout) => describeFailure(rollout, status));
    const held = onFailure === 'Hold' ? [{ type: 'Held', status: 'True', reason: 'RolloutFailed', message } as const] : [];
    return { instead: stalled('RolloutFailed', message), notes, held };
  }
  if (underway.length > 0) {
    const message = listFew(underway, ({ evaluation }) => evaluation.message);
    return { instead: progressing(message), notes, held: [] };
  }
  const rejection = failedSelection(rollouts, policy, now);
  if (rejection !== undefined) return { instead: stalled('RejectedDigest', describeRejection(rejection)), notes, held: [] };
  const failedHere = rollouts.filter((rollout) => isFailedHere(rollout, status));
  if (failedHere.length > 0) {
    const message = listFew(failedHere, ({ workload }) => describeFailedHere(status.latest?.tag ?? '', workload));
    return { instead: stalled('RejectedDigest', message), notes, held: [] };
  }
  const tried = retriesOf(policy, rollouts, now);
  const givenUp = tried.filter(({ until }) => until === undefined);
  if (givenUp.length > 0) {
    const message = `${listFew(givenUp, ({ workload, failures, why }) => describeGivenUp(`${status.latest?.tag} on ${formatWorkload(workload)}`, failures, why))} release it`;
    return { instead: stalled('RetriesExhausted', message), notes, held: [] };
  }
  const retries = tried.length === 0 ? [] : [listFew(tried, ({ why }) => why)];
  return { notes: [...retries, ...notes], held: [] };
}

/** A workload that was rolled back from the selected image, which did not cause the failure and is tried again. */
export interface PendingRetry extends FailedTries {
  readonly workload: Workload;
}

/** The failed tries of the selected image on workloads that were rolled back from it, as the workloads record them. */
export function retriesOf({ status: { latest }, ...owner }: ImagePolicy, rollouts: readonly RolloutState[], now: Date): PendingRetry[] {
  if (latest === undefined) return [];
  return rollouts.flatMap(({ workload, entries }) =>
    entries.flatMap(({ container }) => {
      const tries = failedTries({ workload, container, candidate: latest }, owner, now);
      return tries === undefined ? [] : [{ workload, ...tries }];
    }),
  );
}

/** The rejection of the selected image if it failed and was not released since, unless everything runs it. */
function failedSelection(
  rollouts: readonly RolloutState[],
  { status: { latest, rejected = [] }, actions }: ImagePolicy,
  now: Date,
): RejectedImage | undefined {
  const isLatest = (one: RejectedImage) => (latest?.digest === undefined ? one.tag === latest?.tag : isRejectionOf(one, latest));
  const rejection = latest && rejected.find(isLatest);
  if (rejection === undefined || isDecision(rejection) || isReleased(new Date(rejection.at), actions, now)) return undefined;
  return rollouts.some(({ entries }) => entries.some((entry) => !isRejectionOf(rejection, entry))) ? rejection : undefined;
}

/** Whether the workload was rolled back from the selected image, which is still rolled out to others (`waves.maxFailures`). */
function isFailedHere({ workload, entries }: RolloutState, { latest }: PolicyStatus): boolean {
  return entries.some(({ trigger, container }) => {
    const { failed, retry } = (trigger === 'Rollback' && lastUpdateOf(workload, container)) || {};
    return failed !== undefined && latest !== undefined && failed === wholeDigest(latest) && retry === undefined;
  });
}

function describeFailure({ workload, entries }: RolloutState, status: ImagePolicy['status']): string {
  const failed = entries.filter(({ result }) => result === 'Failed');
  const known = failed
    .map((entry) => findRejection(status, entry)?.message ?? entry.failure?.message)
    .find((message) => message !== undefined);
  const controller = workload.rollout?.deadlineExceeded?.message;
  const images = failed.map(({ to }) => to).join(' and ');
  return `the rollout of ${images} failed: ${known ?? [formatWorkload(workload), controller].filter(Boolean).join(': ')}`;
}

function stalled(reason: ConditionState['reason'], message: string): ConditionState[] {
  return [
    { type: 'Ready', status: 'False', reason, message },
    { type: 'Stalled', status: 'True', reason, message },
  ];
}

function progressing(message: string): ConditionState[] {
  return [
    { type: 'Ready', status: 'False', reason: 'Progressing', message },
    { type: 'Reconciling', status: 'True', reason: 'Progressing', message },
  ];
}

const holds = reasonsWith('shownAsHeld');

/** The reasons of `holds` that are shown as Held only when the image does not wait for a time any more. */
const holdsLater: ReadonlySet<string> = new Set<Reason>(['VulnerabilitiesUnknown']);

/** Whether guards set this condition. The same type may also be set for other reasons. */
export function isBlocked({ type, reason }: Pick<Condition, 'type' | 'reason'>): boolean {
  return type === 'ApprovalRequired' || (type === 'Held' && holds.has(reason));
}

/** One condition of each type for the blocked changes of all targets. */
export function blockedConditions(blocked: readonly Blocked[]): ConditionState[] {
  const held = conditionOf(
    'Held',
    blocked.filter(({ kind, reason }) => holds.has(reason) && !(kind === 'waits' && holdsLater.has(reason))),
  );
  const approvals = conditionOf(
    'ApprovalRequired',
    blocked.filter(({ reason }) => reason === 'ApprovalRequired'),
  );
  return [...held, ...approvals];
}

/** One sentence about the blocked changes of all targets, the first reason first. Undefined if nothing is blocked. It fits into a condition message. */
export function describeBlocked(
  blocked: readonly Pick<Blocked, 'reason' | 'message'>[],
): { readonly reason: Reason; readonly message: string } | undefined {
  const [first] = blocked;
  if (first === undefined) return undefined;
  const messages = new Set(blocked.map(({ message }) => message));
  return { reason: first.reason, message: cut([...messages].join('; '), maxLengths.message) };
}

function conditionOf(type: ConditionType, blocked: readonly Blocked[]): ConditionState[] {
  const found = describeBlocked(blocked);
  return found === undefined ? [] : [{ type, status: 'True', ...found }];
}
