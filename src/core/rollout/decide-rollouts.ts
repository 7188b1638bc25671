/**
 * The decision of a check of rollouts, from what it has found: the next status, what is reported beside it, and what is rolled back. Pure: made again with the newest
 * status after a conflict.
 */
import { isSameWhole } from '../model/companions.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { maxListed, type HistoryEntry, type PolicyStatus } from '../model/policy-status.ts';
import type { TargetSnapshot } from '../model/target-snapshot.ts';
import { workloadKey, type Workload } from '../model/workload.ts';
import { listImages } from '../plan/changed-images.ts';
import { isSameContainer } from '../plan/past.ts';
import { findRejection, isDecision } from '../plan/rejections.ts';
import { isWaveWait } from '../model/wave-wait.ts';
import { refusedRollbacks, rollbacksOf, whyNoRollback, type RefusedRollback } from './automatic-rollback.ts';
import { withBegunChecks } from './evaluate-change.ts';
import { progressOf, type RolloutProgress } from './count-rollouts.ts';
import { isRecorded, newestOf } from './current-rollouts.ts';
import type { Finding } from './examine-rollouts.ts';
import { failureOf, isSameEntry, recordFindings, rejectRolledBack } from './record-results.ts';

/** What a check of rollouts leads to; its status has the conditions of the one before. */
export interface RolloutDecision extends RolloutProgress {
  readonly results: RolloutResults;
  /** The workloads that are to be rolled back, with the changes that were just found failed. */
  readonly failed: readonly ChangedWorkload[];
  /** The changes that must not be rolled back. */
  readonly refused: readonly RefusedRollback[];
}

/** A workload, with those of its changes that something is about. */
export interface ChangedWorkload {
  readonly workload: Workload;
  readonly entries: readonly HistoryEntry[];
}

/** A rollout whose entries in the history have a new result. */
export interface RolloutResult extends ChangedWorkload {
  readonly entries: readonly [HistoryEntry, ...HistoryEntry[]];
  readonly isDone: boolean;
  readonly message: string;
  /** Whether all workloads of the push have now rolled out, none of them with a failure. Only then is the push reported as rolled out. */
  readonly isLast: boolean;
  /** Why the failure is not rolled back, though the policy asks for that. */
  readonly whyNoRollback: string | undefined;
}

/** The new results of a check. */
export interface RolloutResults {
  readonly before: PolicyStatus;
  readonly after: PolicyStatus;
  readonly results: readonly RolloutResult[];
  /** Changes that the history does not hold and that are rolled out, once all rollouts are over. */
  readonly completed: readonly ChangedWorkload[];
}

/** Decides about what a check has found. `policy`: with its newest status. */
export function decideRollouts(before: ImagePolicy, findings: readonly Finding[], snapshot: TargetSnapshot): RolloutDecision {
  const policy = { ...before, status: withBegunChecks(before, snapshot) };
  const found = { ...policy, status: recordFindings(policy, findings, snapshot) };
  const failed = goesBack(policy) ? findFailed(found, findings, snapshot) : [];
  const rollbacks = failed.flatMap(({ workload, entries }) => rollbacksOf(found, workload, snapshot, entries));
  const progress = progressOf({ ...policy, status: rejectRolledBack(found, rollbacks, snapshot) }, snapshot);
  return {
    ...progress,
    results: resultsOf(policy, progress.status, findings),
    failed,
    refused: goesBack(policy) ? refusedRollbacks({ ...policy, status: progress.status }, snapshot) : [],
  };
}

/** The workloads with something to roll back: by the history, or by what was just found and the history has no room for. */
function findFailed(policy: ImagePolicy, findings: readonly Finding[], snapshot: TargetSnapshot): ChangedWorkload[] {
  const failed = new Map<string, ChangedWorkload>();
  for (const ref of policy.status.history ?? []) {
    const workload = snapshot.findWorkload(ref);
    if (workload !== undefined) failed.set(workloadKey(ref), { workload, entries: [] });
  }
  for (const { rollout, evaluation } of findings) {
    if (evaluation.kind !== 'failed') continue;
    const entries = rollout.entries.map((entry) => ({ ...entry, failure: failureOf(evaluation) }));
    failed.set(workloadKey(rollout.workload), { workload: rollout.workload, entries });
  }
  return [...failed.values()].filter(({ workload, entries }) => rollbacksOf(policy, workload, snapshot, entries).length > 0);
}

function goesBack({ spec }: ImagePolicy): boolean {
  return isUsable(spec) && spec.rollout?.onFailure === 'Rollback';
}

/** What the status of a policy does not say before, and says after these findings. */
function resultsOf(policy: ImagePolicy, after: PolicyStatus, findings: readonly Finding[]): RolloutResults {
  const { status: before } = policy;
  const results = findings.flatMap(({ rollout, evaluation }): RolloutResult[] => {
    const [entry, ...others] = (after.history ?? []).filter(
      (one) => rollout.entries.some((found) => isSameEntry(found, one)) && resultIn(before, one) !== one.result,
    );
    if (entry === undefined) return [];
    const entries = [entry, ...others] as const;
    const images = listImages(entries);
    const isDone = entry.result === 'RolledOut';
    return [
      {
        workload: rollout.workload,
        entries,
        isDone,
        message: isDone ? `${images} is out: ${evaluation.message}` : `the rollout of ${images} failed: ${evaluation.message}`,
        isLast: isComplete(after, entry) && !hasFailed(after, entry) && !followsWave(after, entry),
        whyNoRollback: isDone || !goesBack(policy) ? undefined : entries.map(whyNoRollback).find((why) => why !== undefined),
      },
    ];
  });
  return { before, after, results, completed: completedBy(before, after, findings) };
}

/** Whether no rollout of the image of a change is under way. Those of other images do not count, unless the history is full: then it may lack some of this image. */
function isComplete({ history = [], rollouts }: PolicyStatus, { tag, ...image }: HistoryEntry): boolean {
  const open = newestOf(history).filter(({ result }) => result === 'Applied');
  const others = open.filter((one) => one.tag !== tag || !isSameWhole(one, image));
  const ofOthers = history.length < maxListed ? new Set(others.map(workloadKey)).size : 0;
  return others.length === open.length && (rollouts?.progressing ?? 0) <= ofOthers;
}

/** Whether the image of a change waits for its next wave. */
function followsWave({ waiting }: PolicyStatus, { tag, digest }: HistoryEntry): boolean {
  return isWaveWait(waiting) && waiting.tag === tag && waiting.digest === digest;
}

function completedBy(before: PolicyStatus, after: PolicyStatus, findings: readonly Finding[]): ChangedWorkload[] {
  const { settledAt = '' } = after.rollouts ?? {};
  const known = before.rollouts?.settledAt;
  if (settledAt === '' || settledAt === known) return [];
  const isNew = ({ at }: HistoryEntry) => known === undefined || Date.parse(at) > Date.parse(known);
  return findings.flatMap(({ rollout: { workload, entries }, evaluation }) => {
    const found = entries.filter((entry) => !isRecorded(before, entry) && isNew(entry));
    return evaluation.kind === 'done' && found.length > 0 ? [{ workload, entries: found }] : [];
  });
}

/** Whether the image of a change is rejected as failed, or has failed on a workload where no later try of it has succeeded. An image that a person rejects may be out. */
export function hasFailed(status: PolicyStatus, image: HistoryEntry): boolean {
  const rejection = findRejection(status, image);
  if (rejection !== undefined && !isDecision(rejection)) return true;
  const ofImage = (status.history ?? []).filter((one) => one.trigger !== 'Rollback' && one.tag === image.tag && isSameWhole(one, image));
  const isNewest = (entry: HistoryEntry) => ofImage.find((one) => isSameContainer(one, entry)) === entry;
  return ofImage.some((entry) => (entry.result === 'Failed' || entry.result === 'RolledBack') && isNewest(entry));
}

function resultIn({ history = [] }: PolicyStatus, entry: HistoryEntry): HistoryEntry['result'] | undefined {
  return history.find((one) => isSameEntry(one, entry))?.result;
}
