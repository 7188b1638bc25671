/**
 * One check of the rollouts of a policy: the state of the workloads and, while they are rolling out, of their new pods. The findings are written to the status
 * first. A failed image is therefore rejected before it is rolled back, and the next check can continue after a crash at any point.
 */
import { currentRollouts, type Rollout } from '../../../core/rollout/current-rollouts.ts';
import { asSeenBy } from '../../../core/plan/consent.ts';
import { decideRollouts, type RolloutDecision } from '../../../core/rollout/decide-rollouts.ts';
import { isSameWhole } from '../../../core/model/companions.ts';
import { defined } from '../../../core/model/defined.ts';
import { describeError } from '../../../core/model/errors.ts';
import { healthOf, nextHealthy, type HealthCheck } from '../../../core/rollout/health.ts';
import { evaluateReading, examineRollouts, manyRollouts, maxExamined, type Finding } from '../../../core/rollout/examine-rollouts.ts';
import type { RolloutEvaluation, RolloutTime } from '../../../core/rollout/evaluate-rollout.ts';
import { policyKey, type ImagePolicy } from '../../../core/model/image-policy.ts';
import type { PolicyStatus } from '../../../core/model/policy-status.ts';
import { snapshotOf, type TargetSnapshot } from '../../../core/model/target-snapshot.ts';
import { workloadKey, type Workload, type WorkloadRef } from '../../../core/model/workload.ts';
import { withRollouts } from '../../../core/status/with-rollouts.ts';
import type { PolicyJob } from '../../queue/jobs.ts';
import { defaultParallel } from '../apply.ts';
import { findSame } from '../attempt.ts';
import { completingJob } from '../enqueue/completing-job.ts';
import { atLeastAsStatus } from '../enqueue/fresh-state.ts';
import type { Policies, Ports, Registry, SeenCluster } from '../ports.ts';
import { reportResults } from './report-rollouts.ts';
import { inParallel } from '../../../core/async/in-parallel.ts';
import { rollBack } from './roll-back.ts';
import { evaluateRestarted } from './evaluate-restarted.ts';
import { rolloutJob, watchedSpec, type WatchedSpec } from './rollout-job.ts';

/** One check of the rollouts of a policy. */
export interface RolloutCheck {
  readonly policy: ImagePolicy;
  readonly spec: WatchedSpec;
  /** What the policy may see, with targets that are at least as new as its status. */
  readonly cluster: SeenCluster;
  /** The workloads that the check has read from the API server, by key; undefined for one that is gone. */
  readonly fresh: Map<string, Workload | undefined>;
  readonly signal: AbortSignal;
}

/** The ports of a check. What it sees of the cluster is in the check. */
export type RolloutPorts = Omit<Ports, 'cluster'>;

/** Checks the rollouts of one policy, acts on the findings, and enqueues the next check. */
export async function watchRollouts(job: PolicyJob, ports: Ports, signal: AbortSignal): Promise<void> {
  const key = policyKey(job.policy);
  try {
    await ports.policies.mutex.run(key, () => checkOnce(job, ports, signal));
  } catch (error) {
    ports.report.logger.warn({ policy: key, why: describeError(error) }, 'rollout check failed, will be repeated');
    throw error;
  }
  const policy = findSame(job, ports.policies);
  const next = policy && rolloutJob(policy, asSeenBy(policy, ports.cluster), new Date(ports.cluster.now()));
  if (next !== undefined) await ports.queues.addPolicyJobs([next]);
}

async function checkOnce(job: PolicyJob, ports: Ports, signal: AbortSignal): Promise<void> {
  const check = await startCheck(job, ports, signal);
  if (check === undefined) return;
  const { policy, cluster } = check;
  const findings = await examine(check, job.notBefore !== undefined, ports);
  const health = await readHealth(check, ports);
  const recorded = await record(check, findings, health, ports.policies);
  if (recorded === undefined) return;
  const { decision, isReleased } = recorded;
  // What had to wait because the image was rejected can go on.
  if (isReleased) await ports.queues.addPolicyJobs([completingJob(policy, new Date(cluster.now()))]);
  await reportResults(policy, decision.results, { ...ports, cluster });
  await rollBack(decision, { ...check, policy: { ...policy, status: decision.status } }, ports);
}

/** The check of a job, with the policy and what it may see; undefined if the policy is gone, or its rollouts are not watched. */
async function startCheck(job: PolicyJob, ports: Ports, signal: AbortSignal): Promise<RolloutCheck | undefined> {
  const policy = await findNewest(job, ports, signal);
  const spec = policy && watchedSpec(policy);
  if (policy === undefined || spec === undefined) return undefined;
  // Counted by older workloads, a rollout that has failed would not be one of the policy.
  const cluster = asSeenBy(policy, await atLeastAsStatus(policy, ports, signal));
  return { policy, spec, cluster, fresh: new Map(), signal };
}

/**
 * The policy of the job. The replica that made it may have seen newer state: a delayed job uses our state, any other reads fresh state if ours shows no need.
 */
async function findNewest(job: PolicyJob, ports: Ports, signal: AbortSignal): Promise<ImagePolicy | undefined> {
  const cached = findSame(job, ports.policies);
  if (job.notBefore !== undefined) return cached;
  const now = new Date(ports.cluster.now());
  const ownJob = cached && rolloutJob(cached, asSeenBy(cached, ports.cluster), now);
  if (ownJob !== undefined && ownJob.notBefore === undefined) return cached;
  const read = await ports.policies.read(job.policy.namespace, job.policy.name, signal);
  if (read?.uid !== job.policy.uid) return undefined;
  const newest = currentRollouts(read, snapshotOf(read, asSeenBy(read, ports.cluster), now)).slice(0, manyRollouts);
  await Promise.all(newest.map(({ workload }) => ports.workloads.read(workload, signal)));
  return read;
}

/** What the caches say of all rollouts, and the API server of those that are not complete. */
async function examine(check: RolloutCheck, isScheduled: boolean, ports: RolloutPorts): Promise<Finding[]> {
  const { policy, spec, cluster } = check;
  const { over, asked } = examineRollouts(policy, spec.rollout, snapshotOf(policy, cluster, new Date(cluster.now())), isScheduled);
  const results = await inParallel(asked, spec.maxParallel ?? defaultParallel, (found) => readRollout(found, check, ports));
  const examined = results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
  return [...over, ...examined];
}

/** Evaluates a rollout anew, by what the API server says of it now. */
async function readRollout(found: Finding, check: RolloutCheck, ports: RolloutPorts): Promise<Finding> {
  const { rollout, evaluation, digests } = found;
  const { policy, spec, cluster, fresh, signal } = check;
  const key = workloadKey(rollout.workload);
  let answeredAt: Date | undefined;
  const workload = await ports.workloads.read(rollout.workload, signal, (at) => (answeredAt = at));
  fresh.set(key, workload);
  const alone = asSeenBy(policy, {
    ...cluster,
    findWorkload: (ref: WorkloadRef) => (workloadKey(ref) === key ? workload : undefined),
    listWorkloads: () => (workload === undefined ? [] : [workload]),
  });
  // The object that holds the URL of a chart is found as well, but is no target.
  const snapshot = { ...snapshotOf(policy, alone, new Date(cluster.now())), findWorkload: cluster.findWorkload };
  const current = currentRollouts(policy, snapshot).find((one) => workloadKey(one.workload) === key);
  if (current === undefined) return { rollout: { ...rollout, entries: [] }, evaluation, digests };
  const time = { since: rollout.since, timeoutMs: spec.rollout.timeoutMs };
  const now = await evaluateNow(current, time, { check, answeredAt }, ports);
  return {
    rollout: current,
    evaluation: now,
    digests: now.kind === 'failed' ? await findDigests(current, check, ports.registry) : digests,
  };
}

/** The pods are read only of a rollout that is not over; where they may not be read, only the workload itself is evaluated. */
async function evaluateNow(
  found: Rollout,
  time: RolloutTime,
  { check, answeredAt }: { readonly check: RolloutCheck; readonly answeredAt: Date | undefined },
  ports: RolloutPorts,
): Promise<RolloutEvaluation> {
  const { policy, cluster, signal } = check;
  const { workloads, report } = ports;
  if (found.workload.restarts !== undefined) return evaluateRestarted(found, time, check, ports);
  const rollout = { ...found, policy };
  const evaluation = evaluateReading(rollout, time, { answeredAt }, new Date(cluster.now()));
  if (evaluation.kind === 'done' || evaluation.kind === 'notWatched' || rollout.workload.installation !== undefined) return evaluation;
  let podsAt = answeredAt;
  const pods = await workloads
    .readPods(rollout.workload, signal, (at) => (podsAt = at))
    .catch((error: unknown) => {
      report.logger.warn({ workload: workloadKey(rollout.workload), why: describeError(error) }, 'pods of a rollout could not be read');
    });
  return pods ? evaluateReading(rollout, time, { pods, answeredAt: podsAt }, new Date(cluster.now())) : evaluation;
}

/** A change that was found after a crash has no digest: only tags that are pinned as tags lack one, and those do not move. */
async function findDigests(
  { entries }: Rollout,
  { policy, spec, signal }: RolloutCheck,
  { headManifest, sourceOf }: Registry,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { digest, tag } of entries) {
    const head = digest === undefined ? await headManifest(sourceOf(policy, spec), tag, signal) : undefined;
    if (head !== undefined) found.set(tag, head.digest);
  }
  return found;
}

/** Decides by the newest status, and writes that; undefined if the policy is gone. `isReleased`: an image that was rejected is so no longer. */
async function record(
  check: RolloutCheck,
  findings: readonly Finding[],
  health: HealthCheck,
  { writeStatus }: Policies,
): Promise<{ readonly decision: RolloutDecision; readonly isReleased: boolean } | undefined> {
  const { policy, cluster, signal } = check;
  let decision: RolloutDecision | undefined;
  let before: PolicyStatus = {};
  const now = new Date(cluster.now());
  const update = (status: PolicyStatus) => {
    const current = { ...policy, status };
    before = status;
    const snapshot = withFresh(check, now);
    decision = withHealth(decideRollouts(current, findings, snapshot), current, snapshot, health);
    return withRollouts(current, decision, now);
  };
  await writeStatus(policy, update, signal);
  if (decision === undefined) return undefined;
  const { rejected = [] } = decision.status;
  return { decision, isReleased: before.rejected?.some((one) => !rejected.some((other) => isSameWhole(one, other))) === true };
}

/** The decision with the image that all targets run now, complete and available. */
function withHealth(decision: RolloutDecision, policy: ImagePolicy, snapshot: TargetSnapshot, health: HealthCheck): RolloutDecision {
  const { healthy: _, ...status } = decision.status;
  const healthy = nextHealthy({ ...policy, status: decision.status }, snapshot, health);
  return { ...decision, status: { ...status, ...defined({ healthy }) } };
}

/** Reads the targets of a followed policy if, by the caches, a time begins for which they run one image. With hundreds of them, the caches count for most. */
async function readHealth(check: RolloutCheck, ports: RolloutPorts): Promise<HealthCheck> {
  const { policy, cluster, fresh, signal } = check;
  const isFollowed = cluster.isFollowed?.(policy);
  const snapshot = snapshotOf(policy, cluster, new Date(cluster.now()));
  const health = isFollowed === true ? healthOf(policy, snapshot) : undefined;
  if (health === undefined || 'why' in health || health.image.digest === policy.status.healthy?.digest) return { isFollowed };
  const times: number[] = [];
  const asked = snapshot.targets.slice(0, maxExamined);
  const results = await inParallel(asked, check.spec.maxParallel ?? defaultParallel, async (workload) => {
    fresh.set(workloadKey(workload), await ports.workloads.read(workload, signal, (at) => times.push(at.getTime())));
  });
  const failed = results.find((result) => result.status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  return { isFollowed, readAt: times.length === 0 ? new Date(cluster.now()) : new Date(Math.max(...times)) };
}

/** What the policy sees of its targets now, and of other workloads as the check has read them. */
function withFresh({ policy, cluster, fresh }: RolloutCheck, now: Date): TargetSnapshot {
  const snapshot = snapshotOf(policy, cluster, now);
  const targets = snapshot.targets.flatMap((one) => (fresh.has(workloadKey(one)) ? (fresh.get(workloadKey(one)) ?? []) : one));
  return { ...snapshot, targets, findWorkload: (ref) => fresh.get(workloadKey(ref)) ?? cluster.findWorkload(ref) };
}
