/**
 * When the rollouts of a policy want to be looked at: a pure judgement like that on policies (wake-policies.ts), asked on every change of a policy or
 * workload, by the minute's sweep, and at the end of each look. Nothing hangs on having seen a change, and no worker waits.
 */
import { currentRollouts, newestOf, rollbacksOf, type Rollout } from '../core/current-rollouts.ts';
import { isUsable, type ImagePolicy, type RolloutSettings } from '../core/image-policy.ts';
import { deadlineOf, judgeRollout } from '../core/judge-rollout.ts';
import { workloadKey, type Workload, type WorkloadRef } from '../core/workload.ts';
import type { PolicyJob } from '../queue/jobs.ts';

/** While it goes on, its pods are asked at these times after the change, then every minute. */
const lastEarlyMs = 75_000;
const earlyLooksMs = [5_000, 15_000, 35_000, lastEarlyMs];
const firstTryMs = 5_000;

interface Due {
  /** Tells this state of this rollout from others, so that replicas that see the same make one job. */
  readonly cause: string;
  /** Absent: now. */
  readonly at?: Date;
}

/** The next look at the policy's rollouts: its job, at once or as an alarm; undefined when nothing is to be found out. */
export function rolloutJob(
  { namespace, name, uid, resourceVersion, spec, status }: ImagePolicy,
  findWorkload: (ref: WorkloadRef) => Workload | undefined,
  now: Date,
): PolicyJob | undefined {
  if (!isUsable(spec) || spec.suspended || spec.rollout === undefined) return undefined;
  const job = {
    schema: 1,
    policy: { namespace, name, uid },
    source: 'TargetChange',
    receivedAt: now.toISOString(),
    task: 'rollout',
  } as const;
  const rollouts = currentRollouts(status, findWorkload);
  const { rollout: settings } = spec;
  const due = [...rollouts.map((rollout) => lookAt(rollout, settings, now)), ...backwards(status, settings, findWorkload, now)].filter(
    (one) => one !== undefined,
  );
  const immediate = due.filter(({ at }) => at === undefined);
  if (immediate.length > 0) return { ...job, cause: `rollout:${immediate.map(({ cause }) => cause).join(';')}` };
  const [first] = due.toSorted((a, b) => (a.at?.getTime() ?? 0) - (b.at?.getTime() ?? 0));
  if (first?.at !== undefined) return { ...job, cause: `rollout:${first.cause}`, notBefore: first.at.toISOString() };
  const says = status.conditions?.find(({ type }) => type === 'Ready')?.reason;
  return says === 'Progressing' ? { ...job, cause: `rollout:over:${resourceVersion}` } : undefined;
}

function lookAt({ workload, entries, since }: Rollout, settings: RolloutSettings, now: Date): Due | undefined {
  const time = { since, timeoutMs: settings.timeoutMs };
  const verdict = judgeRollout(workload, time, now);
  const isUnknown = entries.some(({ result }) => result === 'Applied');
  const place = `${workload.uid}:${workload.generation}:${entries.map(({ result }) => result).join('+')}`;
  if (verdict.kind === 'done' || (verdict.kind === 'failed' && isUnknown)) {
    return { cause: `${place}:${verdict.kind}:${tryAt(since, now)}` };
  }
  if (verdict.kind !== 'progressing' || !isUnknown) return undefined;
  const deadline = deadlineOf(workload, time).getTime();
  const next = nextLookAt(since, now);
  const at = new Date(deadline > now.getTime() ? Math.min(next, deadline) : next);
  return { cause: `${place}:at:${at.getTime()}`, at };
}

/** What failed and is to be put back, or was put back without being written down. */
function backwards(
  status: ImagePolicy['status'],
  settings: RolloutSettings,
  findWorkload: (ref: WorkloadRef) => Workload | undefined,
  now: Date,
): Due[] {
  if (settings.onFailure !== 'Rollback') return [];
  const places = new Map(newestOf(status.history ?? []).map((entry) => [workloadKey(entry), entry]));
  return [...places.values()].flatMap((ref) => {
    const workload = findWorkload(ref);
    const rollbacks = workload === undefined ? [] : rollbacksOf(status, workload);
    const [first] = rollbacks;
    if (workload === undefined || first === undefined) return [];
    const states = rollbacks.map(({ isDone }) => (isDone ? 'done' : 'open')).join('+');
    return [{ cause: `${workload.uid}:${workload.generation}:back:${states}:${tryAt(new Date(first.entry.at), now)}` }];
  });
}

/** What a try did not bring to its end is tried again under another name, with growing pauses. */
function tryAt(since: Date, now: Date): number {
  return Math.floor(Math.log2(Math.max(1, (now.getTime() - since.getTime()) / firstTryMs)));
}

function nextLookAt(since: Date, now: Date): number {
  const elapsedMs = now.getTime() - since.getTime();
  const early = earlyLooksMs.find((lookMs) => lookMs > elapsedMs);
  const minutes = Math.floor((elapsedMs - lastEarlyMs) / 60_000) + 1;
  return since.getTime() + (early ?? lastEarlyMs + minutes * 60_000);
}
