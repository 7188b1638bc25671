/**
 * When the rollouts of a policy want to be looked at: a pure judgement like that on policies (wake-policies.ts), asked on every change of a policy or
 * workload, by the minute's sweep, and at the end of each look. Nothing hangs on having seen a change, and no worker waits.
 */
import { refusedRollbacks, rollbacksOf } from '../rollout/automatic-rollback.ts';
import { asSeenBy, type ConsentRules } from '../plan/consent.ts';
import { nextSettlement, standingsOf } from '../rollout/count-rollouts.ts';
import { currentRollouts, isRecorded, newestOf, type Rollout } from '../rollout/current-rollouts.ts';
import { isUsable, type ImagePolicy, type RolloutSettings } from '../model/image-policy.ts';
import type { RegistryAliases } from '../model/image-reference.ts';
import { deadlineOf, evaluateRollout } from '../rollout/evaluate-rollout.ts';
import { hashId } from '../model/push-event.ts';
import type { WorkloadView } from '../model/resolve-target.ts';
import { workloadKey } from '../model/workload.ts';
import type { PolicyJob } from '../queue/jobs.ts';

/** While it goes on, its pods are asked at these times after the change, then every minute. */
const lastEarlyMs = 75_000;
const earlyChecksMs = [5_000, 15_000, 35_000, lastEarlyMs];
const firstTryMs = 5_000;
/** What was refused is tried again for so long, in case consent or a signature is still given; then a user decides. */
const refusedForMs = 86_400_000;

const maxCauseLength = 1_000;

/** Shared looks are at multiples of this. */
export const checkStepMs = 5_000;
/** From here on, looks are shared. */
export const manyRollouts = 10;
/** So many workloads are asked in one look at most, they and their pods; the others have their turn in the next ones. */
export const maxExamined = 30;

/** What is known of the workloads, and under which names registries are known. */
export interface RolloutView extends WorkloadView {
  readonly aliases: RegistryAliases;
}

interface Due {
  /** Tells this state of this rollout from others, so that replicas that see the same make one job. */
  readonly cause: string;
  /** Absent: now. */
  readonly at?: Date;
}

/** The next look at the policy's rollouts: its job, at once or as an alarm; undefined when nothing is to be found out. */
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
  const alarm = rollouts.length > manyRollouts ? together(due, now) : earliest(due);
  if (alarm?.at !== undefined) return { ...job, cause: `rollout:${alarm.cause}`, notBefore: alarm.at.toISOString() };
  const settlement = nextSettlement(status, standingsOf(policy, view, now), settings);
  if (settlement !== undefined)
    return {
      ...job,
      cause: `rollout:settled:${settlement.settledAt}`,
      ...(settlement.due > now && { notBefore: settlement.due.toISOString() }),
    };
  const says = status.conditions?.find(({ type }) => type === 'Ready')?.reason;
  return says === 'Progressing' ? { ...job, cause: `rollout:over:${resourceVersion}` } : undefined;
}

function earliest(due: readonly Due[]): Due | undefined {
  return due.toSorted((a, b) => (a.at?.getTime() ?? 0) - (b.at?.getTime() ?? 0))[0];
}

/** Of hundreds, each would want a moment of its own: one look is for all that want it within some seconds. */
function together(due: readonly Due[], now: Date): Due | undefined {
  const first = earliest(due)?.at;
  if (first === undefined) return undefined;
  const wanted = due.length > maxExamined ? now.getTime() + 1 : first.getTime();
  const at = Math.ceil(wanted / checkStepMs) * checkStepMs;
  return { cause: `many:at:${at}`, at: new Date(at) };
}

/** The cause becomes part of a job that is kept for an hour. */
function shorten(causes: string): string {
  return causes.length <= maxCauseLength ? causes : hashId([causes]);
}

function checkOf({ workload, entries, since }: Rollout, { status }: ImagePolicy, settings: RolloutSettings, now: Date): Due | undefined {
  const time = { since, timeoutMs: settings.timeoutMs };
  const verdict = evaluateRollout(workload, time, now);
  const isUnknown = entries.some(({ result }) => result === 'Applied');
  const place = `${workload.uid}:${workload.generation}:${entries.map(({ result }) => result).join('+')}`;
  // What the history does not hold has no place where it would be said that it is out.
  const isSaid = verdict.kind === 'done' && entries.every((entry) => !isRecorded(status, entry));
  if (isSaid) return undefined;
  // Pods may be younger than the change: what is late without them is asked again by the minute.
  const isLate = verdict.kind === 'failed' && verdict.reason === 'RolloutTimedOut';
  if (verdict.kind === 'done' || (verdict.kind === 'failed' && isUnknown && !isLate)) {
    return { cause: `${place}:${verdict.kind}:${tryAt(since, now)}` };
  }
  if ((verdict.kind !== 'progressing' && !isLate) || !isUnknown) return undefined;
  const deadline = deadlineOf(workload, time).getTime();
  const next = nextCheckAt(since, now);
  const at = new Date(deadline > now.getTime() ? Math.min(next, deadline) : next);
  return { cause: `${place}:at:${at.getTime()}`, at };
}

/** What failed and is to be rolled back, was rolled back without being written down, or must not be rolled back, which is still to be said. */
function backwards(policy: ImagePolicy, settings: RolloutSettings, view: RolloutView, now: Date): Due[] {
  if (settings.onFailure !== 'Rollback') return [];
  const { status } = policy;
  const refused = refusedRollbacks(policy, view).map(({ entry }) => ({
    cause: `${workloadKey(entry)}:refused:${tryAt(new Date(entry.at), now)}`,
  }));
  const places = new Map(newestOf(status.history ?? []).map((entry) => [workloadKey(entry), entry]));
  const back = [...places.values()].flatMap((ref): Due[] => {
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

/** With growing pauses; undefined when it has been tried for long enough. */
function nextTryAt(since: Date, now: Date): Date | undefined {
  const pauseMs = firstTryMs * 2 ** (tryAt(since, now) + 1);
  return pauseMs > refusedForMs ? undefined : new Date(since.getTime() + pauseMs);
}

/** What a try did not bring to its end is tried again under another name, with growing pauses. */
function tryAt(since: Date, now: Date): number {
  return Math.floor(Math.log2(Math.max(1, (now.getTime() - since.getTime()) / firstTryMs)));
}

function nextCheckAt(since: Date, now: Date): number {
  const elapsedMs = now.getTime() - since.getTime();
  const early = earlyChecksMs.find((checkMs) => checkMs > elapsedMs);
  const minutes = Math.floor((elapsedMs - lastEarlyMs) / 60_000) + 1;
  return since.getTime() + (early ?? lastEarlyMs + minutes * 60_000);
}
