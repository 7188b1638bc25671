import { defined } from '../model/defined.ts';
import { whyNoRollback } from './automatic-rollback.ts';
import { followedWorkloads, isOpen, isRecorded } from './current-rollouts.ts';
import { isUsable, type ImagePolicy, type RolloutSettings } from '../model/image-policy.ts';
import { evaluateChange } from './evaluate-change.ts';
import type { RolloutEvaluation } from './evaluate-rollout.ts';
import type { HistoryEntry, PolicyStatus, RolloutCounts } from '../model/policy-status.ts';
import { findRejection, isDecision } from '../plan/rejections.ts';
import type { TargetSnapshot } from '../model/target-snapshot.ts';
import { toTime } from '../model/text.ts';
import type { Workload } from '../model/workload.ts';

const lagMs = 15_000;

/** A workload that runs an image this policy applied, and the status of its rollout. */
export interface RolloutState {
  readonly workload: Workload;
  /** The newest change of each container, including completed ones. */
  readonly entries: readonly HistoryEntry[];
  readonly evaluation: RolloutEvaluation;
}

/** The rollout status of every workload that runs an image this policy applied; empty if the policy does not watch rollouts. Sends no requests. */
export function rolloutStatesOf(policy: ImagePolicy, snapshot: TargetSnapshot): RolloutState[] {
  if (!isUsable(policy.spec) || policy.spec.rollout === undefined) return [];
  const { timeoutMs } = policy.spec.rollout;
  return followedWorkloads(policy, snapshot).map(({ workload, entries }) => {
    const since = new Date(Math.max(...entries.map(({ at }) => Date.parse(at))));
    return { workload, entries, evaluation: evaluateChange(policy, { workload, entries }, { since, timeoutMs }, snapshot) };
  });
}

/** A status that counts its rollouts, with these. */
export interface RolloutProgress {
  readonly status: PolicyStatus;
  readonly states: readonly RolloutState[];
}

/** The status with the counts of its rollouts and, once all are over, the time up to which all changes are complete. */
export function progressOf(policy: ImagePolicy, snapshot: TargetSnapshot): RolloutProgress {
  const { spec, status } = policy;
  const states = rolloutStatesOf(policy, snapshot);
  const counts = countRollouts(policy, states, snapshot.at);
  if (counts === undefined) return { status, states };
  const counted = { ...status, rollouts: counts };
  const completion = isUsable(spec) && spec.rollout !== undefined ? nextCompletion(status, states, spec.rollout) : undefined;
  if (completion === undefined || completion.due > snapshot.at) return { status: counted, states };
  // Changes that the history does not hold get their result from the time of the completion, which is counted as well.
  return progressOf({ ...policy, status: { ...status, rollouts: { ...counts, settledAt: completion.settledAt } } }, snapshot);
}

/** The counts for the status; undefined where there is nothing to count and there was nothing before. */
export function countRollouts({ spec, status }: ImagePolicy, rollouts: readonly RolloutState[], now: Date): RolloutCounts | undefined {
  if (rollouts.length === 0 && status.rollouts === undefined) return undefined;
  const states = rollouts.map((rollout) => stateOf(rollout, status));
  const count = (state: CountedAs) => states.filter((one) => one === state).length;
  const { settledAt, progressing: before = 0, lastDoneAt } = status.rollouts ?? {};
  const progressing = count('progressing');
  const hasWaves = isUsable(spec) && spec.rollout?.waves !== undefined;
  const doneAt = before > 0 && progressing === 0 ? toTime(now) : lastDoneAt;
  return {
    progressing,
    done: count('done'),
    failed: count('failed'),
    rolledBack: count('rolledBack'),
    ...defined({ settledAt }),
    ...(hasWaves && doneAt !== undefined && { lastDoneAt: doneAt }),
  };
}

/** Changes that do not fit in the history complete together: their results are not recorded one by one. */
export interface Completion {
  readonly settledAt: string;
  /** The earliest time at which `settledAt` is written, because the cache of a replica may miss changes of the same moment. */
  readonly due: Date;
}

/** The time up to which all changes are complete, if there are more than the history holds; undefined while one is in progress, or if the time is already recorded. */
export function nextCompletion(status: PolicyStatus, rollouts: readonly RolloutState[], settings: RolloutSettings): Completion | undefined {
  const { settledAt } = status.rollouts ?? {};
  const isNew = ({ at }: HistoryEntry) => settledAt === undefined || Date.parse(at) > Date.parse(settledAt);
  const others = rollouts.flatMap(({ entries }) => entries.filter((entry) => !isRecorded(status, entry) && isNew(entry)));
  if (others.length === 0 || !rollouts.every((rollout) => isOver(rollout, status, settings))) return undefined;
  const newest = others.reduce((latest, { at }) => (Date.parse(at) > Date.parse(latest) ? at : latest), '1970-01-01T00:00:00Z');
  return { settledAt: newest, due: new Date(Date.parse(newest) + lagMs) };
}

type CountedAs = Exclude<keyof RolloutCounts, 'settledAt' | 'lastDoneAt'> | 'notWatched';

function stateOf({ entries, evaluation }: RolloutState, status: PolicyStatus): CountedAs {
  if (evaluation.kind === 'notWatched') return 'notWatched';
  const isFailed = entries.some((entry) => entry.result === 'Failed' || (entry.result !== 'Applied' && isRejected(status, entry)));
  if (evaluation.kind !== 'done' && isFailed) return 'failed';
  if (evaluation.kind !== 'done' && entries.some(({ result }) => result === 'Applied')) return 'progressing';
  return entries.some(({ trigger }) => trigger === 'Rollback') ? 'rolledBack' : 'done';
}

function isRejected(status: PolicyStatus, image: HistoryEntry): boolean {
  const rejection = findRejection(status, image);
  return rejection !== undefined && !isDecision(rejection);
}

/** A change in the history has its own result. Any other is complete unless it is in progress or its failure can still be rolled back. */
function isOver({ entries, evaluation }: RolloutState, status: PolicyStatus, { onFailure }: RolloutSettings): boolean {
  const open = entries.filter(isOpen);
  if (open.length === 0 || evaluation.kind === 'notWatched') return true;
  const recorded = open.filter((entry) => isRecorded(status, entry));
  if (evaluation.kind === 'done') return recorded.length === 0;
  const canGoBack =
    onFailure === 'Rollback' && open.some((entry) => entry.rollbackRefused === undefined && whyNoRollback(entry) === undefined);
  return !canGoBack && (evaluation.kind === 'failed' || open.every(({ result }) => result === 'Failed'));
}
