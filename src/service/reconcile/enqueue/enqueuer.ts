import { policyKey, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { policyJobId, type PolicyJob } from '../../queue/jobs.ts';
import { waitJob } from './wait-job.ts';
import { waveJob } from './wave-job.ts';
import type { ClusterView, JobQueue, Policies } from '../ports.ts';
import { changedTargetsJob, newTargetJob, neededReconciles, selectedJob } from './needs-reconcile.ts';
import { rolloutJob } from '../rollouts/next-rollout-check.ts';

export interface EnqueuerPorts {
  readonly policies: Pick<Policies, 'all' | 'find' | 'secretVersions'>;
  readonly cluster: ClusterView;
  readonly queues: JobQueue;
  readonly onError: (error: unknown) => void;
}

export interface Enqueuer {
  /**
   * Checks whether a policy needs a reconcile, once for all events in a turn of the event loop: a change of hundreds of targets causes hundreds of events, and
   * each check covers all targets. Jobs of the same turn are sent to Redis together.
   */
  consider(policy: ImagePolicy): void;
  /**
   * Does the same for a new target of the policy, by its uid; new targets that come together are checked together. The check is repeated when the policy
   * selects another image within a minute, because a push that was in progress when the workload appeared did not see it.
   */
  considerNewTarget(policy: ImagePolicy, uid: string): void;
  /** Enqueues a policy whose namespace is selected now and was not before; `version` is that of the Namespace. */
  addSelected(policy: ImagePolicy, version: string): void;
  resync(): void;
  stop(): void;
}

const retryMs = 1_000;
const bulkSize = 500;
/** One namespace may have hundreds of policies with broad selectors: other namespaces and all other work get their turn in between. */
const sliceMs = 10;
/** An installation creates the workloads of an application one after the other. */
const newTargetsMs = 100;
const newTargetForMs = 60_000;

/** The new targets of a policy. */
interface NewTargets {
  /** Since when they are known, by uid. */
  readonly since: Map<string, number>;
  /** The image that they were last compared with. */
  comparedWith?: string;
}

/** Turns changes in the caches into jobs. Jobs that Redis did not accept are kept and sent again; the next resync finds those that a crash loses. */
export function createEnqueuer(ports: EnqueuerPorts): Enqueuer {
  const pending = new Map<string, PolicyJob>();
  let timer: NodeJS.Timeout | undefined;
  const considered = new Map<string, ImagePolicy>();
  /** The rest of a pass over all policies, and whether another one was requested meanwhile. */
  let pass: Iterator<ImagePolicy> | undefined;
  let isPassRequested = false;
  const newTargets = new Map<string, NewTargets>();
  const arrived = new Map<string, ImagePolicy>();
  let newTargetsTimer: NodeJS.Timeout | undefined;
  const stopping = new AbortController();

  const schedule = (delayMs: number) => {
    if (!stopping.signal.aborted) timer ??= setTimeout(() => void flush(), delayMs);
  };
  /** An error in one policy must neither delay another policy nor end the process. */
  const isolated = (evaluateOne: () => readonly (PolicyJob | undefined)[]) => {
    try {
      for (const job of evaluateOne()) if (job !== undefined) pending.set(policyJobId(job), job);
    } catch (error) {
      ports.onError(error);
    }
  };
  const compare = (policy: ImagePolicy, known: NewTargets): PolicyJob | undefined => {
    known.comparedWith = selectedBy(policy);
    const now = new Date(ports.cluster.now());
    return newTargetJob(policy, new Set(known.since.keys()), ports.cluster, now) ?? changedTargetsJob(policy, ports.cluster, now, true);
  };
  const expire = (key: string, { since }: NewTargets) => {
    for (const [uid, at] of since) if (ports.cluster.now() - at >= newTargetForMs) since.delete(uid);
    if (since.size === 0) newTargets.delete(key);
  };
  const followUp = (policy: ImagePolicy): PolicyJob | undefined => {
    const known = newTargets.get(policyKey(policy));
    if (known?.comparedWith === undefined) return undefined;
    expire(policyKey(policy), known);
    return known.since.size > 0 && selectedBy(policy) !== known.comparedWith ? compare(policy, known) : undefined;
  };
  const evaluateOne = (policy: ImagePolicy, withNew: boolean) => {
    isolated(() => [
      withNew ? changedTargetsJob(policy, ports.cluster, new Date(ports.cluster.now()), true) : undefined,
      ...neededReconciles(policy, ports.cluster, new Date(ports.cluster.now()), ports.policies.secretVersions),
      waitJob(policy),
      waveJob(policy, ports.cluster),
      rolloutJob(policy, ports.cluster, new Date(ports.cluster.now())),
      followUp(policy),
    ]);
  };
  /** The next policy of the pass, as it is by now: a copy of all policies would be garbage of megabytes each minute. */
  const nextOfPass = (): ImagePolicy | undefined => {
    if (pass === undefined && isPassRequested) {
      pass = ports.policies.all()[Symbol.iterator]();
      isPassRequested = false;
    }
    const next = pass?.next();
    if (next?.done !== true) return next?.value;
    pass = undefined;
    return undefined;
  };
  const evaluate = () => {
    const sliceEnd = performance.now() + sliceMs;
    for (const [key, policy] of considered) {
      considered.delete(key);
      evaluateOne(policy, false);
      if (performance.now() >= sliceEnd) break;
    }
    // One of the pass at least: a policy that changes all the time must not stop it.
    for (let policy = nextOfPass(); policy !== undefined; policy = nextOfPass()) {
      evaluateOne(policy, true);
      if (performance.now() >= sliceEnd) return;
    }
  };
  const flush = async () => {
    try {
      evaluate();
      while (pending.size > 0 && !stopping.signal.aborted) {
        const batch = [...pending].slice(0, bulkSize);
        await ports.queues.addPolicyJobs(batch.map(([, job]) => job));
        for (const [id] of batch) pending.delete(id);
      }
      timer = undefined;
      if (pending.size + considered.size > 0 || pass !== undefined || isPassRequested) schedule(0);
    } catch (error) {
      ports.onError(error);
      timer = undefined;
      schedule(retryMs);
    }
  };
  const consider = (policy: ImagePolicy) => {
    if (stopping.signal.aborted) return;
    considered.set(policyKey(policy), policy);
    schedule(0);
  };
  const compareArrived = () => {
    newTargetsTimer = undefined;
    const sliceEnd = performance.now() + sliceMs;
    for (const [key, { namespace, name }] of arrived) {
      arrived.delete(key);
      const [policy, known] = [ports.policies.find(namespace, name), newTargets.get(key)];
      if (policy === undefined || known === undefined) newTargets.delete(key);
      else isolated(() => [compare(policy, known)]);
      if (performance.now() >= sliceEnd) break;
    }
    if (pending.size > 0) schedule(0);
    if (arrived.size > 0 && !stopping.signal.aborted) newTargetsTimer = setTimeout(compareArrived, 0);
  };

  return {
    consider,
    considerNewTarget(policy, uid) {
      if (stopping.signal.aborted) return;
      const key = policyKey(policy);
      const known = newTargets.get(key) ?? { since: new Map<string, number>() };
      known.since.set(uid, ports.cluster.now());
      newTargets.set(key, known);
      arrived.set(key, policy);
      newTargetsTimer ??= setTimeout(compareArrived, newTargetsMs);
    },
    addSelected(policy, version) {
      isolated(() => [selectedJob(policy, version, new Date(ports.cluster.now()))]);
      schedule(0);
    },
    resync() {
      // This includes policies that were deleted.
      for (const [key, known] of newTargets) expire(key, known);
      isPassRequested = true;
      schedule(0);
    },
    stop() {
      stopping.abort();
      clearTimeout(timer);
      clearTimeout(newTargetsTimer);
    },
  };
}

function selectedBy({ status: { latest } }: ImagePolicy): string {
  return latest === undefined ? '' : `${latest.tag}@${latest.digest ?? ''}`;
}
