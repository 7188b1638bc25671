/**
 * Computes when the rollouts of a policy are to be checked next: a pure function like the predicate for policies (enqueue/needs-reconcile.ts), called on every
 * change of a policy or workload, by the resync each minute, and at the end of each check. A missed event does no harm, and no worker waits.
 */
import { refusedRollbacks, rollbacksOf } from './automatic-rollback.ts';
import { nextCompletion, rolloutStatesOf } from './count-rollouts.ts';
import { currentRollouts, isRecorded, newestOf, type Rollout } from './current-rollouts.ts';
import { resultCondition } from '../model/decisive-condition.ts';
import type { ImagePolicy, RolloutSettings } from '../model/image-policy.ts';
import { evaluateChange, withBegunChecks } from './evaluate-change.ts';
import { deadlineOf } from './evaluate-rollout.ts';
import { checkStepMs, manyRollouts, maxExamined } from './examine-rollouts.ts';
import { isHealthOutdated } from './health.ts';
import { hashId } from '../model/push-event.ts';
import type { TargetSnapshot } from '../model/target-snapshot.ts';
import { workloadKey, type Workload } from '../model/workload.ts';

/** The pods of a progressing rollout are read at these times after the change, then every minute. */
const lastEarlyMs = 75_000;
const earlyChecksMs = [5_000, 15_000, 35_000, lastEarlyMs];
const firstTryMs = 5_000;
/** How long a refused rollback is retried, in case a consent or signature is given later. After that, a user has to decide. */
const refusedForMs = 86_400_000;

const maxCauseLength = 1_000;

/** A check of rollouts that is due. */
export interface Due {
  /** Identifies this state of these rollouts, so that replicas that see the same state make one job. */
  readonly cause: string;
  /** When to check; absent for a check without delay. */
  readonly at?: Date;
}

/** The next check of the policy's rollouts; undefined when there is nothing to find out. */
export function nextCheck(policy: ImagePolicy, settings: RolloutSettings, snapshot: TargetSnapshot, isFollowed?: boolean): Due | undefined {
  const { resourceVersion, status } = policy;
  const { at: now } = snapshot;
  // What begins is written to the status by the check.
  const begun = withBegunChecks(policy, snapshot);
  if (begun !== status)
    return {
      cause: `begin:${(begun.checks ?? []).map(({ tag, digest = '', name }) => `${name}:${tag}@${digest}`).join(',')}:${resourceVersion}`,
    };
  const rollouts = currentRollouts(policy, snapshot);
  const due = [...rollouts.map((rollout) => checkOf(rollout, policy, settings, snapshot)), ...backwards(policy, settings, snapshot)].filter(
    (one) => one !== undefined,
  );
  const immediate = [...due.filter(({ at }) => at === undefined), ...healthChecks(policy, snapshot, isFollowed)];
  if (immediate.length > 0) return { cause: shorten(immediate.map(({ cause }) => cause).join(';')) };
  const next = rollouts.length > manyRollouts ? together(due, now) : earliest(due);
  if (next?.at !== undefined) return next;
  const completion = nextCompletion(status, rolloutStatesOf(policy, snapshot), settings);
  if (completion !== undefined) return { cause: `completed:${completion.settledAt}`, ...(completion.due > now && { at: completion.due }) };
  return resultCondition(status.conditions ?? [])?.reason === 'Progressing' ? { cause: `over:${resourceVersion}` } : undefined;
}

/** A check that writes what the targets run now. The minute is part of the cause, because the caches may be behind what the check reads. */
function healthChecks(policy: ImagePolicy, snapshot: TargetSnapshot, isFollowed: boolean | undefined): Due[] {
  if (!isHealthOutdated(policy, snapshot, isFollowed)) return [];
  const versions = hashId(snapshot.targets.map(({ uid, resourceVersion }) => `${uid}:${resourceVersion}`));
  return [{ cause: `health:${policy.resourceVersion}:${versions}:${Math.floor(snapshot.at.getTime() / 60_000)}` }];
}

function earliest(due: readonly Due[]): Due | undefined {
  return due.toSorted((a, b) => (a.at?.getTime() ?? 0) - (b.at?.getTime() ?? 0))[0];
}

/** Combines the due checks of many rollouts. Each of hundreds has its own time, so one check serves all that are due within some seconds. */
function together(due: readonly Due[], now: Date): Due | undefined {
  const first = earliest(due)?.at;
  if (first === undefined) return undefined;
  const wanted = due.length > maxExamined ? now.getTime() + 1 : first.getTime();
  const at = Math.ceil(wanted / checkStepMs) * checkStepMs;
  return { cause: `many:at:${at}`, at: new Date(at) };
}

/** Shortens the cause, because it becomes part of a job id that is kept for an hour. */
function shorten(causes: string): string {
  return causes.length <= maxCauseLength ? causes : hashId([causes]);
}

function checkOf(
  { workload, entries, since }: Rollout,
  policy: ImagePolicy,
  settings: RolloutSettings,
  snapshot: TargetSnapshot,
): Due | undefined {
  const { status } = policy;
  const time = { since, timeoutMs: settings.timeoutMs };
  const { at: now } = snapshot;
  const evaluation = evaluateChange(policy, { workload, entries }, time, snapshot);
  const isUnknown = entries.some(({ result }) => result === 'Applied');
  const key = `${workload.uid}:${stateOf(workload)}:${entries.map(({ result }) => result).join('+')}`;
  // Changes that the history does not hold have no entry that could record their success, so this does not apply to them.
  const isReported = evaluation.kind === 'done' && entries.every((entry) => !isRecorded(status, entry));
  if (isReported) return undefined;
  // A rollout that timed out is checked again every minute, because the newest pods may be younger than the change.
  const isLate = evaluation.kind === 'failed' && evaluation.reason === 'RolloutTimedOut';
  if (evaluation.kind === 'done' || (evaluation.kind === 'failed' && isUnknown && !isLate)) {
    return { cause: `${key}:${evaluation.kind}:${tryAt(since, now)}` };
  }
  if ((evaluation.kind !== 'progressing' && !isLate) || !isUnknown) return undefined;
  const deadline = deadlineOf(workload, time).getTime();
  const next = nextCheckAt(since, now);
  const at = new Date(deadline > now.getTime() ? Math.min(next, deadline) : next);
  return { cause: `${key}:at:${at.getTime()}`, at };
}

/** The state of a workload's spec. A ConfigMap counts no generations. */
function stateOf({ generation, resourceVersion }: Workload): number | string {
  return generation > 0 ? generation : `v${resourceVersion}`;
}

/** Checks for failed changes that have to be rolled back, that were rolled back but not recorded, or whose rollback is refused and not yet reported. */
function backwards(policy: ImagePolicy, settings: RolloutSettings, snapshot: TargetSnapshot): Due[] {
  const { at: now, findWorkload } = snapshot;
  if (settings.onFailure !== 'Rollback') return [];
  const { status } = policy;
  const refused = refusedRollbacks(policy, snapshot).map(({ entry }) => ({
    cause: `${workloadKey(entry)}:refused:${tryAt(new Date(entry.at), now)}`,
  }));
  const newest = new Map(newestOf(status.history ?? []).map((entry) => [workloadKey(entry), entry]));
  const back = [...newest.values()].flatMap((ref): Due[] => {
    const workload = findWorkload(ref);
    const rollbacks = workload === undefined ? [] : rollbacksOf(policy, workload, snapshot);
    const [first] = rollbacks;
    if (workload === undefined || first === undefined) return [];
    const states = rollbacks.map(({ isDone }) => (isDone ? 'done' : 'open')).join('+');
    const cause = `${workload.uid}:${stateOf(workload)}:back:${states}`;
    const isRefused = rollbacks.every(({ entry, isDone }) => !isDone && entry.rollbackRefused !== undefined);
    if (!isRefused) return [{ cause: `${cause}:${tryAt(new Date(first.entry.at), now)}` }];
    const at = nextTryAt(new Date(first.entry.rollbackRefused?.at ?? first.entry.at), now);
    return at === undefined ? [] : [{ cause: `${cause}:at:${at.getTime()}`, at }];
  });
  return [...refused, ...back];
}

/** The time of the next try, with growing pauses; undefined after the last one. */
function nextTryAt(since: Date, now: Date): Date | undefined {
  const pauseMs = firstTryMs * 2 ** (tryAt(since, now) + 1);
  return pauseMs > refusedForMs ? undefined : new Date(since.getTime() + pauseMs);
}

/** The number of the try, which becomes part of the cause: an unfinished try is repeated under another cause, with growing pauses. */
function tryAt(since: Date, now: Date): number {
  return Math.floor(Math.log2(Math.max(1, (now.getTime() - since.getTime()) / firstTryMs)));
}

function nextCheckAt(since: Date, now: Date): number {
  const elapsedMs = now.getTime() - since.getTime();
  const early = earlyChecksMs.find((checkMs) => checkMs > elapsedMs);
  const minutes = Math.floor((elapsedMs - lastEarlyMs) / 60_000) + 1;
  return since.getTime() + (early ?? lastEarlyMs + minutes * 60_000);
}
