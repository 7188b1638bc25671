import type { ConditionState } from './condition-state.ts';
import type { Standing } from '../rollout/count-rollouts.ts';
import { isOpen } from '../rollout/current-rollouts.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { listFew } from '../model/list-few.ts';
import type { PolicyStatus, RejectedImage } from '../model/policy-status.ts';
import { describeRejection, findRejection } from '../plan/rejections.ts';
import { formatWorkload, isSameObject } from '../model/workload.ts';

/** What the rollouts mean for the conditions of a policy. */
export interface RolloutConditions {
  /** Replaces the Ready condition that says that everything runs what is selected. */
  readonly instead?: readonly ConditionState[];
  /** Notes that are added to the message of a Ready policy. */
  readonly notes: readonly string[];
  readonly held: readonly ConditionState[];
}

/**
 * | the rollouts                     | Ready | also                                             |
 * | -------------------------------- | ----- | ------------------------------------------------ |
 * | one failed                       | False | Stalled; with onFailure: Hold also Held          |
 * | one is under way                 | False | Reconciling: Ready means that the update is out  |
 * | one failed and was rolled back   | False | Stalled: what is selected does not run           |
 * | done, or not watched             |       | Ready as without rollouts                        |
 */
export function rolloutConditions(
  { spec, status }: Pick<ImagePolicy, 'spec' | 'status'>,
  standings: readonly Standing[],
): RolloutConditions {
  if (!isUsable(spec) || spec.rollout === undefined) return { notes: [], held: [] };
  const { onFailure } = spec.rollout;
  const open = standings.filter(({ entries, verdict }) => verdict.kind !== 'done' && entries.some(isOpen));
  const failed = open.filter(({ entries }) => entries.some(({ result }) => result === 'Failed'));
  const underway = open.filter(({ verdict }) => verdict.kind === 'progressing' || verdict.kind === 'failed');
  const still = open.filter(({ verdict }) => verdict.kind === 'notWatched');
  const notes = still.length === 0 ? [] : [listFew(still, ({ verdict }) => verdict.message)];
  if (failed.length > 0) {
    const message = listFew(failed, (standing) => describeFailure(standing, status));
    const held = onFailure === 'Hold' ? [{ type: 'Held', status: 'True', reason: 'RolloutFailed', message } as const] : [];
    return { instead: stalled('RolloutFailed', message), notes, held };
  }
  if (underway.length > 0) {
    const message = listFew(underway, ({ verdict }) => verdict.message);
    return { instead: progressing(message), notes, held: [] };
  }
  const rejection = putBack(standings, status);
  if (rejection !== undefined) return { instead: stalled('RejectedDigest', describeRejection(rejection)), notes, held: [] };
  return { notes, held: [] };
}

/** The rejection of the image that failed, for the first container that was rolled back from a rejected image. */
function putBack(standings: readonly Standing[], status: PolicyStatus): RejectedImage | undefined {
  const { history = [] } = status;
  for (const newest of standings.flatMap(({ entries }) => entries)) {
    if (newest.trigger !== 'Rollback') continue;
    const failed = history.find((one) => one.result === 'RolledBack' && isSameObject(one, newest) && one.container === newest.container);
    const rejection = failed && findRejection(status, failed.digest);
    if (rejection !== undefined) return rejection;
  }
  return undefined;
}

function describeFailure({ workload, entries }: Standing, status: ImagePolicy['status']): string {
  const failed = entries.filter(({ result }) => result === 'Failed');
  const known = failed.map(({ digest }) => findRejection(status, digest)?.message).find((message) => message !== undefined);
  const controller = workload.rollout?.givenUp?.message;
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
