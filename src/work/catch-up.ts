import { isUsable, policyKey, type ImagePolicy } from '../core/image-policy.ts';
import { workloadKey, type Workload, type WorkloadRef } from '../core/workload.ts';
import type { PolicyJob } from '../queue/jobs.ts';
import type { ReconcilePorts } from './reconcile-policy.ts';
import { untilSeen } from './until-seen.ts';
import { wakeJob, type SecretVersions } from './wake-policies.ts';

export interface CatchUpPorts extends ReconcilePorts {
  readonly clock: () => Date;
  readonly secretVersions: SecretVersions;
  /** The policy as the API server knows it. */
  readonly readPolicy: (namespace: string, name: string, signal: AbortSignal) => Promise<ImagePolicy | undefined>;
}

/**
 * Ports that see at least what the replica saw that made the job. Each replica has a watch of its own, and ours may be some milliseconds behind;
 * a look at the older state would end the job, and the same cause makes no second one. Costs requests only where we are behind.
 */
export async function catchUp<P extends CatchUpPorts>(job: PolicyJob, ports: P, signal: AbortSignal): Promise<P> {
  const { namespace, name, uid } = job.policy;
  const cached = ports.findPolicy(namespace, name);
  const isBehind = cached?.uid !== uid || cached.generation < (job.generation ?? 0);
  const policy = isBehind ? await ports.readPolicy(namespace, name, signal) : cached;
  if (policy === undefined) return ports;
  if (job.source === 'SecretChange') await untilSeen(() => isSeen(job, policy, ports), signal);
  const workloads = await readTargets(job, policy, ports, signal);
  return {
    ...ports,
    findPolicy: (...names) =>
      policyKey(policy) === names.join('/') ? newer(ports.findPolicy(...names), policy) : ports.findPolicy(...names),
    findWorkload: (ref) => newer(ports.findWorkload(ref), workloads.get(workloadKey(ref))),
  };
}

/** Contents are read anew where the registry refuses; which Secrets there are is known from our watches only. */
function isSeen(job: PolicyJob, policy: ImagePolicy, ports: CatchUpPorts): boolean {
  const own = wakeJob(policy, ports.findWorkload, ports.clock(), ports.secretVersions);
  return own?.source !== 'SecretChange' || own.cause === job.cause;
}

async function readTargets(
  job: PolicyJob,
  policy: ImagePolicy,
  ports: CatchUpPorts,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Workload>> {
  const found = new Map<string, Workload>();
  const isKnown = job.source !== 'TargetChange' || wakeJob(policy, ports.findWorkload, ports.clock())?.cause === job.cause;
  if (isKnown || !isUsable(policy.spec)) return found;
  const read = async (target: WorkloadRef) => {
    const workload = await ports.readWorkload(target, signal);
    if (workload !== undefined) found.set(workloadKey(target), workload);
  };
  await Promise.all(policy.spec.targets.filter(({ kind }) => ports.supportedKinds.has(kind)).map(read));
  return found;
}

/** The cache goes on while a job lasts: what it holds by then may be newer than what was read. */
function newer<T extends { readonly uid: string; readonly generation: number }>(cached: T | undefined, read: T | undefined): T | undefined {
  if (cached === undefined || read === undefined) return cached ?? read;
  return cached.uid === read.uid && cached.generation >= read.generation ? cached : read;
}
