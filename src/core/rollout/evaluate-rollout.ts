/**
 * Evaluates the state of a rollout from the caches alone, so that any replica can do it at any time.
 *
 * | the workload …                                       | evaluation                   |
 * | ---------------------------------------------------- | ---------------------------- |
 * | is of a kind that does not roll out                  | notWatched                   |
 * | is paused, updates on deletion only, wants no pods   | notWatched                   |
 * | has not been observed by its controller yet          | progressing: nothing was tried yet |
 * | has all pods at the newest revision, and available   | done                         |
 * | was complete in this revision before                 | done, whatever fails now     |
 * | has new pods that cannot start                       | failed: ImagePullFailed, CrashLoop |
 * | may not create pods (a quota)                        | progressing: not the fault of the image |
 * | has pods that admission denies, and was given up     | failed: ProgressDeadlineExceeded |
 * | was given up by its controller                       | failed: ProgressDeadlineExceeded |
 * | has a new pod for longer than the policy allows      | failed: RolloutTimedOut      |
 * | should have finished over an hour ago, and its       | notWatched: nobody observed the result |
 * |   controller does not say whether it did             |                              |
 *
 * A failure says which side it speaks against (failure-sides.ts), as far as the pods show it.
 *
 * Charts are evaluated by what the controller that installs them reports (evaluate-installation.ts).
 *
 * The policy's timeout counts only while the controller can make progress: from the change or from when the rollout resumed, and for each new pod from its start.
 */
import { defined } from '../model/defined.ts';
import type { Complaint } from './evaluate-pods.ts';
import type { Side } from '../model/failure-side.ts';
import type { Reason } from '../model/reasons.ts';
import { fieldManager } from '../model/last-update.ts';
import { evaluateInstallation, graceMs } from './evaluate-installation.ts';
import { formatWorkload, imagesOf, type Workload, type WorkloadRef, type WorkloadRollout } from '../model/workload.ts';

/** Why a rollout failed. */
export interface RolloutFailure {
  readonly reason: Extract<
    Reason,
    'ProgressDeadlineExceeded' | 'RolloutTimedOut' | 'ImagePullFailed' | 'CrashLoop' | 'UpgradeFailed' | 'CheckFailed' | 'CheckTimedOut'
  >;
  readonly message: string;
  /** Whether the failure speaks against the image or the cluster. */
  readonly against: Side;
}

export type RolloutEvaluation =
  | { readonly kind: 'progressing' | 'done' | 'notWatched'; readonly message: string }
  | ({ readonly kind: 'failed' } & RolloutFailure);

/** What the pods of the newest revision show, if they were listed. */
export interface PodEvidence {
  readonly failure?: RolloutFailure;
  /** When the oldest pod that is not ready started; absent if all existing pods are ready. */
  readonly unreadySince?: Date;
  /** Why pods are not ready, as they show it; absent if all existing pods are ready. */
  readonly complaint?: Complaint;
}

/** When a rollout started, and how long it may take. */
export interface RolloutTime {
  readonly since: Date;
  readonly timeoutMs: number;
}

/** A workload, as far as its rollout depends on it. */
type RolledOut = WorkloadRef &
  Pick<Workload, 'generation' | 'rollout'> &
  Partial<Pick<Workload, 'installation' | 'fields' | 'containers' | 'initContainers' | 'volumes'>>;

/** Evaluates the rollout of a workload's current revision. */
export function evaluateRollout(workload: RolledOut, time: RolloutTime, now: Date, pods?: PodEvidence): RolloutEvaluation {
  const { rollout, installation, generation, kind } = workload;
  const name = formatWorkload(workload);
  if (installation !== undefined) {
    const change = { name, changedAt: changedAt(workload, time), deadline: deadlineOf(workload, time) };
    return evaluateInstallation(installation, { ...change, timeoutMs: time.timeoutMs, now });
  }
  if (rollout === undefined) return { kind: 'notWatched', message: `${name} is not watched: a ${kind} does not roll out` };
  if (rollout.haltedBecause !== undefined) return { kind: 'notWatched', message: `${name} is not watched: ${rollout.haltedBecause}` };
  const isObserved = rollout.observedGeneration >= generation;
  if (isObserved) {
    if (rollout.wanted === 0) return { kind: 'notWatched', message: `${name} is not watched: it has no replicas` };
    if (isDone(rollout)) return { kind: 'done', message: `${name}: ${rollout.updated} of ${rollout.toUpdate} updated and available` };
    const { deadlineExceeded } = rollout;
    const failure = pods?.failure;
    if (failure !== undefined) return { kind: 'failed', ...failure, message: `${name}: ${failure.message}` };
    if (deadlineExceeded !== undefined && !isBefore(deadlineExceeded.at, changedAt(workload, time)) && rollout.cannotCreate === undefined)
      return failedBy(rollout, pods, { reason: 'ProgressDeadlineExceeded', message: `${name}: ${deadlineExceeded.message}` });
  }
  const overdueMs = now.getTime() - deadlineOf(workload, time).getTime();
  const isStillActive = isObserved && (rollout.isIncomplete === true || rollout.cannotCreate !== undefined);
  if (overdueMs > graceMs && !isStillActive)
    return { kind: 'notWatched', message: `${name} is not watched: its rollout was not observed before the timeout` };
  if (overdueMs >= 0 && isObserved && isLate(rollout, time, now, pods))
    return failedBy(rollout, pods, {
      reason: 'RolloutTimedOut',
      message: `${name} took longer than ${time.timeoutMs / 1_000} s: ${describe(workload)}`,
    });
  return { kind: 'progressing', message: `${name}: ${describe(workload)}` };
}

/** A failure for which time ran out: what denies the pods, or what they show, says against whom it speaks. */
function failedBy(
  { denied }: WorkloadRollout,
  pods: PodEvidence | undefined,
  { reason, message }: Pick<RolloutFailure, 'reason' | 'message'>,
): RolloutEvaluation {
  const why: Complaint | undefined = denied === undefined ? pods?.complaint : { against: 'configuration', message: denied };
  const text = why === undefined ? message : `${message}: ${why.message}`;
  return { kind: 'failed', reason, message: text, against: why?.against ?? 'unknown' };
}

/** Whether the image itself is slow to start: a new pod exists, and it has had the time that the policy allows. */
function isLate({ updated, cannotCreate }: WorkloadRollout, { timeoutMs }: RolloutTime, now: Date, pods: PodEvidence | undefined): boolean {
  if (pods === undefined) return updated > 0 && cannotCreate === undefined;
  return pods.unreadySince !== undefined && now.getTime() - pods.unreadySince.getTime() >= timeoutMs;
}

/** When a rollout must be done if nothing pauses it, by the clock of `since`. */
export function deadlineOf(workload: RolledOut, time: RolloutTime): Date {
  const { since, timeoutMs } = time;
  const resumed = Date.parse(workload.rollout?.resumedAt ?? '');
  const laterMs = Number.isNaN(resumed) ? 0 : Math.max(0, resumed - changedAt(workload, time).getTime());
  return new Date(since.getTime() + laterMs + timeoutMs);
}

/**
 * When we last changed the images, by the clock of the API server (managedFields), to which the times that controllers report belong; our own clock may be
 * behind or ahead of it. Without managedFields: by our own clock.
 */
export function changedAt(
  {
    containers = [],
    initContainers,
    volumes,
    fields = {},
  }: Partial<Pick<Workload, 'fields' | 'containers' | 'initContainers' | 'volumes'>>,
  { since }: RolloutTime,
): Date {
  const images = imagesOf({ containers, ...defined({ initContainers, volumes }) });
  const written = [
    ...images.map(({ container: { imageOwner, imageSetAt } }) => ({ owner: imageOwner, setAt: imageSetAt })),
    ...Object.values(fields).flatMap((field) => ('value' in field ? { owner: field.owner, setAt: field.setAt } : [])),
  ];
  const times = written.flatMap(({ owner, setAt }) => (owner === fieldManager ? Date.parse(setAt ?? '') : []));
  const known = times.filter((time) => !Number.isNaN(time));
  return known.length === 0 ? since : new Date(Math.max(...known));
}

function isDone({ wanted, toUpdate, updated, available, outdated, wasComplete }: WorkloadRollout): boolean {
  return wasComplete || (updated >= toUpdate && outdated === 0 && available >= wanted);
}

/** A Deployment rolled back to an older revision keeps the condition of the failed one until there is progress. Deadlines are at least a second. */
function isBefore(at: string, since: Date): boolean {
  return Date.parse(at) <= since.getTime();
}

function describe({ rollout, generation }: RolledOut): string {
  if (rollout === undefined || rollout.observedGeneration < generation) return 'its controller has not seen the change yet';
  const { wanted, toUpdate, updated, available, outdated, denied, cannotCreate = denied } = rollout;
  const old = outdated > 0 ? `, ${outdated} old still there` : '';
  const why = cannotCreate === undefined ? '' : `; pods cannot be created: ${cannotCreate}`;
  return `${updated} of ${toUpdate} updated, ${available} of ${wanted} available${old}${why}`;
}
