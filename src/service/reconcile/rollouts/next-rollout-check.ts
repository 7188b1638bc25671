/**
 * When the rollouts of a policy are to be checked next: a pure function like the predicate for policies (enqueue/needs-reconcile.ts), called on every change of a
 * policy or workload, by the resync each minute, and at the end of each check. A missed event does no harm, and no worker waits.
 */
import { refusedRollbacks, rollbacksOf } from '../../../core/rollout/automatic-rollback.ts';
import { asSeenBy, type ConsentRules } from '../../../core/plan/consent.ts';
import { nextCompletion, rolloutStatesOf } from '../../../core/rollout/count-rollouts.ts';
import { currentRollouts, isRecorded, newestOf, type Rollout } from '../../../core/rollout/current-rollouts.ts';
import { resultCondition } from '../../../core/model/decisive-condition.ts';
import { isUsable, type ImagePolicy, type RolloutSettings } from '../../../core/model/image-policy.ts';
import type { RegistryAliases } from '../../../core/model/image-reference.ts';
import { deadlineOf, evaluateRollout } from '../../../core/rollout/evaluate-rollout.ts';
import { hashId } from '../../../core/model/push-event.ts';
import type { WorkloadView } from '../../../core/model/resolve-target.ts';
import { workloadKey } from '../../../core/model/workload.ts';
import type { PolicyJob } from '../../queue/jobs.ts';

/** While a rollout progresses, its pods are read at these times after the change, then every minute. */
const lastEarlyMs = 75_000;
const earlyChecksMs = [5_000, 15_000, 35_000, lastEarlyMs];
const firstTryMs = 5_000;
/** A refused rollback is retried for this long, in case consent or a signature is still given; then a user has to decide. */
const refusedForMs = 86_400_000;

const maxCauseLength = 1_000;

/** Shared checks run at multiples of this time. */
export const checkStepMs = 5_000;
/** With more rollouts than this, checks are shared. */
export const manyRollouts = 10;
/** One check reads at most this many workloads and their pods; the others follow in the next checks. */
export const maxExamined = 30;

/** The known workloads, and the aliases of registries. */
export interface RolloutView extends WorkloadView {
  readonly aliases: RegistryAliases;
}

interface Due {
  /** Identifies this state of this rollout, so that replicas that see the same state make one job. */
  readonly cause: string;
  /** Absent: now. */
  readonly at?: Date;
}

/** The next check of the policy's rollouts, as an immediate or a delayed job; undefined when there is nothing to find out. */
export function rolloutJob(policy: ImagePolicy, cluster: RolloutView & ConsentRules, now: Date): PolicyJob | undefined {
  const view = asSeenBy(policy, cluster);
  const { namespace, name, uid, resourceVersion, spec, status } = policy;
  if (!isUsable(spec) || spec.suspended || spec.rollout === undefined) return undefined;
  const job = {
    schema: 1,
    policy: { namespace, name, uid },
    source: 'TargetChange',
    receivedAt: now.toISOString(),
    task: 'rollout',
  } as const;
  const rollouts = currentRollouts(policy, view);
  const { rollout: settings } = spec;
  const due = [...rollouts.map((rollout) => checkOf(rollout, policy, settings, now)), ...backwards(policy, settings, view, now)].filter(
    (one) => one !== undefined,
  );
  const immediate = due.filter(({ at }) => at === undefined);
  if (immediate.length > 0) return { ...job, cause: `rollout:${shorten(immediate.map(({ cause }) => cause).join(';'))}` };
  const next = rollouts.length > manyRollouts ? together(due, now) : earliest(due);
  if (next?.at !== undefined) return { ...job, cause: `rollout:${next.cause}`, notBefore: next.at.toISOString() };
  const completion = nextCompletion(status, rolloutStatesOf(policy, view, now), settings);
  if (completion !== undefined)
    return {
      ...job,
      cause: `rollout:completed:${completion.settledAt}`,
      ...(completion.due > now && { notBefore: completion.due.toISOString() }),
    };
  const says = resultCondition(status.conditions ?? [])?.reason;
  return says === 'Progressing' ? { ...job, cause: `rollout:over:${resourceVersion}` } : undefined;
}

function earliest(due: readonly Due[]): Due | undefined {
  return due.toSorted((a, b) => (a.at?.getTime() ?? 0) - (b.at?.getTime() ?? 0))[0];
}

/** Each of hundreds of rollouts has its own time: one check serves all that are due within some seconds. */
function together(due: readonly Due[], now: Date): Due | undefined {
  const first = earliest(due)?.at;
  if (first === undefined) return undefined;
  const wanted = due.length > maxExamined ? now.getTime() + 1 : first.getTime();
  const at = Math.ceil(wanted / checkStepMs) * checkStepMs;
  return { cause: `many:at:${at}`, at: new Date(at) };
}

/** The cause becomes part of a job id that is kept for an hour. */
function shorten(causes: string): string {
  return causes.length <= maxCauseLength ? causes : hashId([causes]);
}

function checkOf({ workload, entries, since }: Rollout, { status }: ImagePolicy, settings: RolloutSettings, now: Date): Due | undefined {
  const time = { since, timeoutMs: settings.timeoutMs };
  const evaluation = evaluateRollout(workload, time, now);
  const isUnknown = entries.some(({ result }) => result === 'Applied');
  const key = `${workload.uid}:${workload.generation}:${entries.map(({ result }) => result).join('+')}`;
  // Changes that the history does not hold have no entry that could record their success.
  const isReported = evaluation.kind === 'done' && entries.every((entry) => !isRecorded(status, entry));
  if (isReported) return undefined;
  // The newest pods may be younger than the change: a rollout that timed out is checked again every minute.
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

/** Checks for failed changes that have to be rolled back, that were rolled back but not recorded, or whose rollback is refused and not yet reported. */
function backwards(policy: ImagePolicy, settings: RolloutSettings, view: RolloutView, now: Date): Due[] {
  if (settings.onFailure !== 'Rollback') return [];
  const { status } = policy;
  const refused = refusedRollbacks(policy, view).map(({ entry }) => ({
    cause: `${workloadKey(entry)}:refused:${tryAt(new Date(entry.at), now)}`,
  }));
  const newest = new Map(newestOf(status.history ?? []).map((entry) => [workloadKey(entry), entry]));
  const back = [...newest.values()].flatMap((ref): Due[] => {
    const workload = view.findWorkload(ref);
    const rollbacks = workload === undefined ? [] : rollbacksOf(policy, workload, view.aliases);
    const [first] = rollbacks;
    if (workload === undefined || first === undefined) return [];
    const states = rollbacks.map(({ isDone }) => (isDone ? 'done' : 'open')).join('+');
    const cause = `${workload.uid}:${workload.generation}:back:${states}`;
    const isRefused = rollbacks.every(({ entry, isDone }) => !isDone && entry.rollbackRefused !== undefined);
    if (!isRefused) return [{ cause: `${cause}:${tryAt(new Date(first.entry.at), now)}` }];
    const at = nextTryAt(new Date(first.entry.rollbackRefused?.at ?? first.entry.at), now);
    return at === undefined ? [] : [{ cause: `${cause}:at:${at.getTime()}`, at }];
  });
  return [...refused, ...back];
}

/** The next try, with growing pauses; undefined after the last one. */
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
