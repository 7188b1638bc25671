/**
 * One check of the rollouts of a policy: the state of the workloads and, while they are rolling out, of their new pods. The findings are written to the status
 * first, so that a failed image is rejected before it is rolled back, and the next check can continue after a crash at any point.
 */
import { refusedRollbacks, rollbacksOf } from '../../../core/rollout/automatic-rollback.ts';
import { asSeenBy } from '../../../core/plan/consent.ts';
import { currentRollouts, type Rollout } from '../../../core/rollout/current-rollouts.ts';
import { describeError } from '../../../core/model/errors.ts';
import { isUsable, policyKey, type ImagePolicy, type PolicySpec, type RolloutSettings } from '../../../core/model/image-policy.ts';
import { evidenceOf, type PodState } from '../../../core/rollout/evaluate-pods.ts';
import { changedAt, evaluateRollout, type RolloutEvaluation, type RolloutTime } from '../../../core/rollout/evaluate-rollout.ts';
import type { PolicyStatus } from '../../../core/model/policy-status.ts';
import { failureOf, recordFindings, withRolloutConditions, type Finding } from '../../../core/status/record-rollouts.ts';
import { failedWorkloads } from '../../../core/rollout/wave-progress.ts';
import type { OnAnswered } from '../../../core/model/server-clock.ts';
import { workloadKey, type Workload, type WorkloadRef } from '../../../core/model/workload.ts';
import type { PolicyJob } from '../../queue/jobs.ts';
import type { Ports } from '../ports.ts';
import { reportFindings, reportCompleted } from './report-rollouts.ts';
import { defaultParallel } from '../apply.ts';
import { inParallel } from '../../../core/async/in-parallel.ts';
import { rollBack, type Failed } from './roll-back.ts';
import { checkStepMs, manyRollouts, maxExamined, rolloutJob } from './next-rollout-check.ts';

/** One check of the rollouts of a policy. */
export interface RolloutCheck {
  readonly policy: ImagePolicy;
  readonly spec: PolicySpec & { readonly rollout: RolloutSettings };
  /** Whether it was due at this time, rather than caused by a change. */
  readonly isScheduled: boolean;
  /** The workloads that the check has read from the API server, by key; undefined for one that is gone. */
  readonly fresh: Map<string, Workload | undefined>;
  readonly signal: AbortSignal;
}

/** Checks the rollouts of one policy, acts on the findings, and enqueues the next check. */
export async function watchRollouts(job: PolicyJob, ports: Ports, signal: AbortSignal): Promise<void> {
  const key = policyKey(job.policy);
  try {
    await ports.policies.mutex.run(key, async () => {
      const policy = await findNewest(job, ports, signal);
      const check = policy && checkOf(policy, job, signal);
      if (check !== undefined) await runCheck(check, { ...ports, cluster: asSeenBy(check.policy, ports.cluster) });
    });
  } catch (error) {
    ports.report.logger.warn({ policy: key, why: describeError(error) }, 'rollout check failed, will be repeated');
    throw error;
  }
  const policy = findSame(job, ports);
  const next = policy && rolloutJob(policy, ports.cluster, new Date(ports.cluster.now()));
  if (next !== undefined) await ports.queues.addPolicyJobs([next]);
}

/**
 * The replica that made the job may have seen newer state: a delayed job is decided by our own, any other reads fresh state where ours shows no reason for it.
 */
async function findNewest(job: PolicyJob, ports: Ports, signal: AbortSignal): Promise<ImagePolicy | undefined> {
  const cached = findSame(job, ports);
  const ownJob = cached && rolloutJob(cached, ports.cluster, new Date(ports.cluster.now()));
  if (job.notBefore !== undefined || (ownJob !== undefined && ownJob.notBefore === undefined)) return cached;
  const read = await ports.policies.read(job.policy.namespace, job.policy.name, signal);
  if (read?.uid !== job.policy.uid) return undefined;
  const newest = currentRollouts(read, asSeenBy(read, ports.cluster)).slice(0, manyRollouts);
  await Promise.all(newest.map(({ workload }) => ports.workloads.read(workload, signal)));
  return read;
}

function findSame({ policy: { namespace, name, uid } }: PolicyJob, { policies }: Ports): ImagePolicy | undefined {
  const policy = policies.find(namespace, name);
  return policy?.uid === uid ? policy : undefined;
}

/** The check that a job asks for; undefined where the rollouts of the policy are not watched. */
function checkOf(policy: ImagePolicy, job: PolicyJob, signal: AbortSignal): RolloutCheck | undefined {
  const { spec } = policy;
  if (!isUsable(spec) || spec.suspended || spec.rollout === undefined) return undefined;
  return { policy, spec: { ...spec, rollout: spec.rollout }, isScheduled: job.notBefore !== undefined, fresh: new Map(), signal };
}

async function runCheck(check: RolloutCheck, ports: Ports): Promise<void> {
  const { spec, fresh } = check;
  const findings = await examineAll(check, ports);
  const status = await recordResult(check, findings, ports);
  if (spec.rollout.onFailure !== 'Rollback') return;
  const policy = { ...check.policy, status };
  const view = {
    findWorkload: (ref: WorkloadRef) => fresh.get(workloadKey(ref)) ?? ports.cluster.findWorkload(ref),
    aliases: ports.cluster.aliases,
  };
  const failed = new Map<string, Failed>();
  for (const ref of status.history ?? []) {
    const workload = view.findWorkload(ref);
    if (workload !== undefined) failed.set(workloadKey(ref), { workload, entries: [] });
  }
  for (const { rollout, evaluation } of findings) {
    if (evaluation.kind !== 'failed') continue;
    const failure = failureOf(evaluation);
    failed.set(workloadKey(rollout.workload), { ...rollout, entries: rollout.entries.map((entry) => ({ ...entry, failure })) });
  }
  const wanted = [...failed.values()].filter(({ workload, entries }) => rollbacksOf(policy, workload, view.aliases, entries).length > 0);
  await rollBack({ failed: wanted, refused: refusedRollbacks(policy, view) }, { ...check, policy }, ports);
}

/** Evaluates all rollouts from the caches, and those that are not complete from the API server. */
async function examineAll(check: RolloutCheck, ports: Ports): Promise<Finding[]> {
  const { policy, spec } = check;
  const now = new Date(ports.cluster.now());
  const evaluated = currentRollouts(policy, ports.cluster).map((rollout) => {
    const time = { since: rollout.since, timeoutMs: spec.rollout.timeoutMs };
    return { rollout, evaluation: evaluateRollout(rollout.workload, time, now), digests: new Map<string, string>() };
  });
  // Where one of many rollouts changed, the pods of the others are read at their own times.
  const asksPods = check.isScheduled || evaluated.length <= manyRollouts;
  const chosen = chooseExamined(evaluated, asksPods, now);
  const results = await inParallel(chosen, spec.maxParallel ?? defaultParallel, (found) => examine(found, check, ports));
  const examined = results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
  return [...evaluated.filter(({ evaluation }) => evaluation.kind === 'done' || evaluation.kind === 'notWatched'), ...examined];
}

/** Failed rollouts first, then those in progress in turns. */
function chooseExamined(evaluated: readonly Finding[], asksPods: boolean, now: Date): Finding[] {
  const failed = evaluated.filter(({ evaluation }) => evaluation.kind === 'failed');
  const underway = asksPods ? evaluated.filter(({ evaluation }) => evaluation.kind === 'progressing') : [];
  const turns = Math.ceil(underway.length / maxExamined);
  const start = turns > 1 ? (Math.floor(now.getTime() / checkStepMs) % turns) * maxExamined : 0;
  return [...failed, ...underway.slice(start), ...underway.slice(0, start)].slice(0, maxExamined);
}

/** A failure is never reported from the caches alone; and pods show more than a controller that still waits. */
async function examine({ rollout, evaluation: first, digests: none }: Finding, check: RolloutCheck, ports: Ports): Promise<Finding> {
  const { policy, spec, fresh, signal } = check;
  const time = { since: rollout.since, timeoutMs: spec.rollout.timeoutMs };
  const key = workloadKey(rollout.workload);
  let answeredAt: Date | undefined;
  const workload = await ports.workloads.read(rollout.workload, signal, (at) => (answeredAt = at));
  fresh.set(key, workload);
  const alone = asSeenBy(policy, {
    ...ports.cluster,
    findWorkload: (ref: WorkloadRef) => (workloadKey(ref) === key ? workload : undefined),
    listWorkloads: () => (workload === undefined ? [] : [workload]),
  });
  const current = currentRollouts(policy, alone).find((one) => workloadKey(one.workload) === key);
  if (current === undefined) return { rollout: { ...rollout, entries: [] }, evaluation: first, digests: none };
  const evaluation = await evaluateNow(current, time, { ...check, answeredAt }, ports);
  const digests = evaluation.kind === 'failed' ? await findDigests(current, check, ports) : none;
  return { rollout: current, evaluation, digests };
}

/**
 * Evaluates what was just read; the pods only of a rollout that is not over. How long it has taken is measured by the clock of the API server, which recorded when the
 * image was set and the pods were created: our own may be far from it, and an image may be blamed for a rollout that takes too long.
 */
async function evaluateNow(
  { workload, entries }: Rollout,
  ownTime: RolloutTime,
  { signal, answeredAt }: Pick<RolloutCheck, 'signal'> & { readonly answeredAt: Date | undefined },
  ports: Ports,
): Promise<RolloutEvaluation> {
  let serverNow = answeredAt;
  const evaluate = (pods?: readonly PodState[]) => {
    const now = serverNow ?? new Date(ports.cluster.now());
    const time = serverNow === undefined ? ownTime : { ...ownTime, since: changedAt(workload, ownTime) };
    const evidence = pods && evidenceOf(pods, new Set(entries.map(({ container }) => container)), now);
    return evaluateRollout(workload, time, now, evidence);
  };
  const evaluation = evaluate();
  if (evaluation.kind === 'done' || evaluation.kind === 'notWatched') return evaluation;
  const pods = await readPods(workload, ports, signal, (at) => (serverNow = at));
  return pods === undefined ? evaluation : evaluate(pods);
}

/** Where pods may not be read, only the workload itself is evaluated. */
async function readPods(
  workload: Workload,
  ports: Ports,
  signal: AbortSignal,
  onAnswered: OnAnswered,
): Promise<readonly PodState[] | undefined> {
  try {
    return await ports.workloads.readPods(workload, signal, onAnswered);
  } catch (error) {
    ports.report.logger.warn({ workload: workloadKey(workload), why: describeError(error) }, 'pods of a rollout could not be read');
    return undefined;
  }
}

/** A change that was found after a crash has no digest: only tags that are pinned as tags lack one, and those do not move. */
async function findDigests(
  { entries }: Rollout,
  { policy, spec, signal }: RolloutCheck,
  { registry }: Pick<Ports, 'registry'>,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { digest, tag } of entries) {
    const head = digest === undefined ? await registry.headManifest(registry.sourceOf(policy, spec), tag, signal) : undefined;
    if (head !== undefined) found.set(tag, head.digest);
  }
  return found;
}

/** Writes the findings to the status and reports the new ones; returns the status that was written. */
async function recordResult({ policy, spec, signal }: RolloutCheck, findings: readonly Finding[], ports: Ports): Promise<PolicyStatus> {
  let before: PolicyStatus = policy.status;
  let after: PolicyStatus = policy.status;
  const now = new Date(ports.cluster.now());
  const update = (status: PolicyStatus) => {
    before = status;
    const failedOn = (digest: string) => failedWorkloads({ ...policy, status }, digest, ports.cluster, now);
    const completed = recordFindings(status, findings, spec.rollout, now, failedOn);
    const next = withRolloutConditions({ ...policy, status }, completed, ports.cluster, now);
    after = next === undefined ? completed : { ...completed, ...(next.rollouts !== undefined && { rollouts: next.rollouts }) };
    return next;
  };
  await ports.policies.writeStatus(policy, update, signal);
  await reportFindings({ policy, before, after, findings }, ports);
  await reportCompleted({ policy, before, after, findings }, ports);
  return after;
}
