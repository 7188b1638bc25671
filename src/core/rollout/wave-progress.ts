/** How far a roll-out in waves has come: from the workloads' own records, so that it is known for any number of them, and after a crash. */
import type { ImagePolicy } from '../model/image-policy.ts';
import { isUsable } from '../model/image-policy.ts';
import { wholeDigest } from '../model/companions.ts';
import type { Candidate } from '../model/image-reference.ts';
import { lastUpdateOf } from '../model/last-update.ts';
import type { HistoryEntry } from '../model/policy-status.ts';
import type { TargetSnapshot } from '../model/target-snapshot.ts';
import { isSameObject, workloadKey, type Workload } from '../model/workload.ts';
import type { TargetProgress } from '../plan/guards/guard.ts';
import { isReleased } from '../plan/guards/released.ts';
import { failedTries } from '../plan/retries.ts';
import { rolloutStatesOf, type RolloutState } from './count-rollouts.ts';
import { isRecorded } from './current-rollouts.ts';
import { deadlineOf } from './evaluate-rollout.ts';
import { watchedImages } from './watched-images.ts';

/** The progress of each workload that was changed to the candidate, by key; undefined for a policy without waves. */
export function waveProgress(policy: ImagePolicy, candidate: Candidate, snapshot: TargetSnapshot): Map<string, TargetProgress> | undefined {
  const { spec } = policy;
  if (!isUsable(spec) || spec.rollout?.waves === undefined) return undefined;
  const { timeoutMs } = spec.rollout;
  const { targets, at: now } = snapshot;
  const states = rolloutStatesOf(policy, snapshot).flatMap((state): [string, TargetProgress][] => {
    const entries = state.entries.filter((entry) => isAbout(entry, candidate));
    return entries.length === 0 ? [] : [[workloadKey(state.workload), progressOf({ ...state, entries }, policy, timeoutMs, now)]];
  });
  const digest = wholeDigest(candidate);
  const failed = digest === undefined ? [] : failedWorkloads(policy, digest, snapshot);
  const retried = targets.flatMap((workload): [string, TargetProgress][] => {
    const tried = watchedImages(workload, policy, snapshot).flatMap(
      ({ container: { name: container } }) => failedTries({ workload, container, candidate }, policy, now) ?? [],
    );
    return tried.map(({ until }) => [
      workloadKey(workload),
      until === undefined ? { state: 'Failed' } : { state: 'Retried', deadline: until },
    ]);
  });
  return new Map([...states, ...retried, ...[...failed].map((key): [string, TargetProgress] => [key, { state: 'Failed' }])]);
}

/**
 * The keys of the workloads on which the rollout of a digest, or of the set with it (`wholeDigest`), failed and the image is to blame, whether or not they were rolled back; without those that failed
 * before a release.
 */
export function failedWorkloads(policy: ImagePolicy, digest: string, snapshot: TargetSnapshot): Set<string> {
  const { status, uid, actions } = policy;
  const { targets, at: now } = snapshot;
  const { history = [] } = status;
  const isOpen = (at: string) => !isReleased(new Date(at), actions, now);
  const rolledBack = (workload: Workload) =>
    watchedImages(workload, policy, snapshot).some(({ container: { name } }) => {
      const update = lastUpdateOf(workload, name);
      const isBlamed = update?.trigger === 'Rollback' && update.failed === digest && update.retry === undefined;
      return isBlamed && update.policy === uid && isOpen(update.at);
    });
  const recorded = (workload: Workload) =>
    history.some((entry) => isFailure(entry) && wholeDigest(entry) === digest && isSameObject(entry, workload) && isOpen(entry.at));
  return new Set(targets.filter((workload) => rolledBack(workload) || recorded(workload)).map(workloadKey));
}

function isFailure({ result, failure }: HistoryEntry): boolean {
  return (result === 'Failed' || result === 'RolledBack') && (failure === undefined || failure.against === 'image');
}

function isAbout({ tag, digest, setDigest }: HistoryEntry, candidate: Candidate): boolean {
  if (candidate.setDigest !== undefined && setDigest !== undefined && setDigest !== candidate.setDigest) return false;
  return tag === candidate.tag && (digest === undefined || candidate.digest === undefined || digest === candidate.digest);
}

/** A rollout is over when the status says so, too: that is when the pause begins. */
function progressOf(
  { workload, entries, evaluation }: RolloutState,
  { status, actions }: ImagePolicy,
  timeoutMs: number,
  now: Date,
): TargetProgress {
  const since = new Date(Math.max(...entries.map(({ at }) => Date.parse(at))));
  const isRecordedOpen = entries.some((entry) => entry.result === 'Applied' && isRecorded(status, entry));
  const isCounted = entries.some((entry) => !isRecorded(status, entry)) && (status.rollouts?.progressing ?? 0) > 0;
  const isOver = evaluation.kind === 'notWatched' || (evaluation.kind === 'done' && !isRecordedOpen && !isCounted);
  const at = new Date(Math.max(since.getTime(), Date.parse(status.rollouts?.lastDoneAt ?? '') || 0));
  if (isOver) return { state: 'Done', at };
  if (evaluation.kind === 'failed' && isReleased(since, actions, now)) return { state: 'Done', at };
  // What a failure speaks against is known when the pods were read and the history says it; until then the rollout is not over.
  if (entries.some(({ result }) => result === 'Failed')) return { state: 'Failed' };
  return { state: 'Progressing', deadline: deadlineOf(workload, { since, timeoutMs }) };
}
