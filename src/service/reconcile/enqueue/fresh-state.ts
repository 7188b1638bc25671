import { isUsable, policyKey, type ImagePolicy, type PolicyTarget } from '../../../core/model/image-policy.ts';
import { isNewer, kindKey, type Workload, workloadKey, type WorkloadRef } from '../../../core/model/workload.ts';
import { sameActions } from '../../../core/model/policy-actions.ts';
import { resolveTargets } from '../../../core/model/resolve-target.ts';
import { sourcesOf } from '../../../core/plan/chart-sources.ts';
import { asSeenBy } from '../../../core/plan/consent.ts';
import { lacksLastChange } from '../../../core/plan/past.ts';
import type { PolicyJob } from '../../queue/jobs.ts';
import type { ClusterView, Policies, Ports, SeenCluster } from '../ports.ts';
import { isCompletingJob } from './completing-job.ts';
import { changedTargetsJob, neededReconciles } from './needs-reconcile.ts';
import { isWaveJob, waveJob } from './wave-job.ts';
import { setTimeout as delay } from 'node:timers/promises';

type FreshStatePorts = Pick<Ports, 'policies' | 'cluster' | 'workloads'>;

/**
 * Ports whose state is at least as new as that of the replica that made the job, and as the status of the policy. Each replica has a watch of its own, and ours
 * may lag by milliseconds. A reconcile of older state would complete the job, and the same cause makes no second one. This costs requests only if our watch
 * lags.
 */
export async function withFreshState<P extends FreshStatePorts>(job: PolicyJob, ports: P, signal: AbortSignal): Promise<P> {
  const { namespace, name, uid } = job.policy;
  const cached = ports.policies.find(namespace, name);
  const isAsked = job.actions === undefined || sameActions(cached?.actions, job.actions);
  const isOlder = cached?.uid !== uid || cached.generation < (job.generation ?? 0) || !isAsked;
  const isBehind = isOlder || isCompletingJob(job) || lacksWave(job, cached, asSeenBy(cached, ports.cluster));
  const policy = isBehind ? await ports.policies.read(namespace, name, signal) : cached;
  if (policy === undefined) return ports;
  const seen = asSeenBy(policy, ports.cluster);
  if (job.source === 'SecretChange') await untilSeen(() => isSeen(job, policy, seen, ports.policies), signal);
  const isCurrent = isKnownHere(job, policy, seen) && !lagsBehindStatus(policy, seen);
  const workloads = isCurrent ? new Map<string, Workload>() : await readTargets(policy, ports, signal);
  if (!isBehind && workloads.size === 0) return ports;
  const fresh = { ...ports, cluster: withWorkloads(ports.cluster, workloads) };
  return isBehind ? withPolicy(policy, fresh) : fresh;
}

/** Ports whose policy is the one of the API server. An earlier try of the job may have written to its status what our cache does not show yet. */
export async function withPolicyRead<P extends FreshStatePorts>(
  { namespace, name }: PolicyJob['policy'],
  ports: P,
  signal: AbortSignal,
): Promise<P> {
  const policy = await ports.policies.read(namespace, name, signal);
  return policy === undefined ? ports : withPolicy(policy, ports);
}

/** Ports whose policy is this one, or a newer one of the cache. */
export function withPolicy<P extends Pick<Ports, 'policies'>>(policy: ImagePolicy, ports: P): P {
  const { find } = ports.policies;
  // If the cache no longer holds an object that it once held, the object was deleted. If it has not seen the object yet, it says nothing about it.
  const findFresh: Policies['find'] = (...names) =>
    policyKey(policy) === names.join('/') ? newer(find(...names), policy) : find(...names);
  return { ...ports, policies: { ...ports.policies, find: findFresh } };
}

/** A view whose targets are at least as new as the status of the policy. It costs requests only if our watch lags. */
export async function atLeastAsStatus(policy: ImagePolicy, ports: FreshStatePorts, signal: AbortSignal): Promise<ClusterView> {
  return lagsBehindStatus(policy, asSeenBy(policy, ports.cluster)) ? withTargetsRead(policy, ports, signal) : ports.cluster;
}

/** The targets of a policy as the API server has them now. */
export async function withTargetsRead(policy: ImagePolicy, ports: FreshStatePorts, signal: AbortSignal): Promise<ClusterView> {
  return withWorkloads(ports.cluster, await readTargets(policy, ports, signal));
}

/** The cluster view in which a workload that was read replaces an older one of the cache. */
function withWorkloads(cluster: ClusterView, workloads: ReadonlyMap<string, Workload>): ClusterView {
  const { findWorkload, listWorkloads } = cluster;
  return {
    ...cluster,
    findWorkload: (ref) => newer(findWorkload(ref), workloads.get(workloadKey(ref))),
    listWorkloads: (kind, inNamespace, ...asked) => {
      const cached = [...listWorkloads(kind, inNamespace, ...asked)];
      const known = new Set(cached.map(workloadKey));
      const read = [...workloads.values()].filter((one) => one.namespace === inNamespace && kindKey(one) === kindKey(kind));
      const newest = cached.map((one) => newer(one, workloads.get(workloadKey(one))) ?? one);
      return [...newest, ...read.filter((one) => !known.has(workloadKey(one)))];
    },
  };
}

/** Whether the status does not show the end of a wave that the job is about. The status has no generation, so the waves are compared. */
function lacksWave(job: PolicyJob, policy: ImagePolicy, seen: SeenCluster): boolean {
  return isWaveJob(job) && waveJob(policy, seen)?.cause !== job.cause;
}

/** Whether our watches show the Secrets as the job does. Contents are read again if the registry refuses them, but only watches know which Secrets exist. */
function isSeen(job: PolicyJob, policy: ImagePolicy, seen: SeenCluster, { secretVersions }: Policies): boolean {
  const compared = { now: new Date(seen.now()), withNew: false };
  const own = neededReconciles(policy, seen, compared, secretVersions).find(({ source }) => source === 'SecretChange');
  return own === undefined || own.cause === job.cause;
}

/** Whether our cache shows the change that caused the job. */
function isKnownHere(job: PolicyJob, policy: ImagePolicy, seen: SeenCluster): boolean {
  if (job.source !== 'TargetChange') return true;
  if (isWaveJob(job)) return !lacksWave(job, policy, seen);
  const now = new Date(seen.now());
  const own = [changedTargetsJob(policy, seen, { now, withNew: true }), ...neededReconciles(policy, seen, { now, withNew: false })];
  return own.some((one) => one?.cause === job.cause);
}

/** Whether our cache shows a target as it was before a change that the status has. The image before would be taken for one that somebody has set since. */
function lagsBehindStatus({ spec, status: { history = [] } }: ImagePolicy, seen: SeenCluster): boolean {
  if (history.length === 0 || !isUsable(spec)) return false;
  return resolveTargets(spec.targets, seen).some((workload) => lacksLastChange(history, workload));
}

async function readTargets(policy: ImagePolicy, ports: FreshStatePorts, signal: AbortSignal): Promise<ReadonlyMap<string, Workload>> {
  const found = new Map<string, Workload>();
  if (!isUsable(policy.spec)) return found;
  await ports.workloads.awaitTargets(policy, policy.spec, signal);
  const read = async (target: PolicyTarget) => {
    const state = ports.cluster.targetState(target, policy);
    if (state === 'starting' || 'problem' in state) return;
    const workloads =
      target.selector === undefined ? [await ports.workloads.read(target, signal)] : await ports.workloads.readSelected(target, signal);
    for (const workload of workloads) if (workload !== undefined) found.set(workloadKey(workload), workload);
  };
  await Promise.all(policy.spec.targets.map(read));
  const readSource = async (source: WorkloadRef) => {
    const workload = await ports.workloads.read(source, signal);
    if (workload !== undefined) found.set(workloadKey(workload), workload);
  };
  await Promise.all(sourcesOf(policy.spec.targets, withWorkloads(ports.cluster, found)).map(readSource));
  return found;
}

/**
 * The newer of the cached and the read object. The cache is updated while a job runs, so it may become newer than the read object. Annotations of most kinds do
 * not increase the generation, so the resource versions are compared as well.
 */
function newer<T extends Pick<ImagePolicy, 'uid' | 'generation' | 'resourceVersion'>>(
  cached: T | undefined,
  read: T | undefined,
): T | undefined {
  if (cached === undefined || read === undefined) return cached ?? read;
  if (cached.uid !== read.uid || cached.generation < read.generation) return read;
  return cached.generation === read.generation && isNewer(read.resourceVersion, cached.resourceVersion) ? read : cached;
}

const stepMs = 50;
const maxSteps = 40;

/** Waits up to two seconds until our own watches show what another replica has already seen; after that, their state is used as it is. */
async function untilSeen(isSeen: () => boolean, signal: AbortSignal): Promise<void> {
  for (let step = 0; step < maxSteps && !isSeen(); step++) await delay(stepMs, undefined, { signal });
}
