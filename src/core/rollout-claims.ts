import type { Claim } from './claim.ts';
import { currentRollouts, newestOf, type Rollout } from './current-rollouts.ts';
import { isUsable, type ImagePolicy } from './image-policy.ts';
import { judgeRollout } from './judge-rollout.ts';
import type { HistoryEntry } from './policy-status.ts';
import { describeRejection, findRejection } from './rejections.ts';
import { formatWorkload, workloadKey, type Workload, type WorkloadRef } from './workload.ts';

/** What the rollouts mean for the conditions of a policy. */
export interface RolloutClaims {
  /** In the place of "Ready, because everything runs what is selected". */
  readonly instead?: readonly Claim[];
  /** What a content user should know all the same. */
  readonly notes: readonly string[];
  readonly held: readonly Claim[];
}

/**
 * | the rollouts                     | Ready | also                                             |
 * | -------------------------------- | ----- | ------------------------------------------------ |
 * | one failed                       | False | Stalled; with onFailure: Hold also Held          |
 * | one is under way                 | False | Reconciling: Ready means that the update is out  |
 * | one failed and was put back      | False | Stalled: what is selected does not run           |
 * | done, or not watched             |       | Ready as without rollouts                        |
 */
export function rolloutClaims(
  { spec, status }: Pick<ImagePolicy, 'spec' | 'status'>,
  findWorkload: (ref: WorkloadRef) => Workload | undefined,
  now: Date,
): RolloutClaims {
  if (!isUsable(spec) || spec.rollout === undefined) return { notes: [], held: [] };
  const { timeoutMs, onFailure } = spec.rollout;
  const judged = currentRollouts(status, findWorkload).map((rollout) => ({
    rollout,
    verdict: judgeRollout(rollout.workload, { since: rollout.since, timeoutMs }, now),
  }));
  const open = judged.filter(({ verdict }) => verdict.kind !== 'done');
  const failed = open.filter(({ rollout }) => rollout.entries.some(({ result }) => result === 'Failed'));
  const underway = open.filter(({ verdict }) => verdict.kind === 'progressing' || verdict.kind === 'failed');
  const notes = open.flatMap(({ verdict }) => (verdict.kind === 'notWatched' ? [verdict.message] : []));
  if (failed.length > 0) {
    const message = failed.map(({ rollout }) => describeFailure(rollout, status)).join('; ');
    const held = onFailure === 'Hold' ? [{ type: 'Held', status: 'True', reason: 'RolloutFailed', message } as const] : [];
    return { instead: stalled('RolloutFailed', message), notes, held };
  }
  if (underway.length > 0) {
    const message = underway.map(({ verdict }) => verdict.message).join('; ');
    return { instead: progressing(message), notes, held: [] };
  }
  const back = putBack(status.history ?? []);
  const rejection = back && findRejection(status, back.digest);
  if (rejection !== undefined) return { instead: stalled('RejectedDigest', describeRejection(rejection)), notes, held: [] };
  return { notes, held: [] };
}

/** The failed change behind the first container that runs what was put back. */
function putBack(history: readonly HistoryEntry[]): HistoryEntry | undefined {
  for (const newest of newestOf(history)) {
    if (newest.trigger !== 'Rollback') continue;
    const place = `${workloadKey(newest)}/${newest.container}`;
    const failed = history.find((entry) => entry.result === 'RolledBack' && `${workloadKey(entry)}/${entry.container}` === place);
    if (failed !== undefined) return failed;
  }
  return undefined;
}

function describeFailure({ workload, entries }: Rollout, status: ImagePolicy['status']): string {
  const failed = entries.filter(({ result }) => result === 'Failed');
  const known = failed.map(({ digest }) => findRejection(status, digest)?.message).find((message) => message !== undefined);
  const controller = workload.rollout?.givenUp?.message;
  const images = failed.map(({ to }) => to).join(' and ');
  return `the rollout of ${images} failed: ${known ?? [formatWorkload(workload), controller].filter(Boolean).join(': ')}`;
}

function stalled(reason: Claim['reason'], message: string): Claim[] {
  return [
    { type: 'Ready', status: 'False', reason, message },
    { type: 'Stalled', status: 'True', reason, message },
  ];
}

function progressing(message: string): Claim[] {
  return [
    { type: 'Ready', status: 'False', reason: 'Progressing', message },
    { type: 'Reconciling', status: 'True', reason: 'Progressing', message },
  ];
}
