import { policyKey, type ImagePolicy } from '../model/image-policy.ts';
import { policyJobId, type PolicyJob } from '../queue/jobs.ts';
import { alarmJob } from './alarm-job.ts';
import type { PlanPorts } from './plan-with.ts';
import { newTargetJob, neededReconciles, type SecretVersions } from './needs-reconcile.ts';
import { rolloutJob } from './next-rollout-check.ts';

export interface EnqueuerPorts extends PlanPorts {
  readonly policies: () => Iterable<ImagePolicy>;
  readonly findPolicy: (namespace: string, name: string) => ImagePolicy | undefined;
  readonly secretVersions: SecretVersions;
  readonly addPolicyJobs: (jobs: readonly PolicyJob[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly clock: () => Date;
}

export interface Enqueuer {
  /**
   * Asks whether a policy wants a look, once for all that happens in a turn of the event loop: a change of hundreds of targets comes as hundreds of events, and
   * each answer looks at all of them. Jobs of one moment go to Redis together.
   */
  consider(policy: ImagePolicy): void;
  /**
   * The same for a workload that the policy did not mean before, by its uid; those of one moment are one question. It is asked again when the policy selects another
   * image within a minute: a push that was under way when the workload came has not seen it.
   */
  considerNewTarget(policy: ImagePolicy, uid: string): void;
  resync(): void;
  stop(): void;
}

const retryMs = 1_000;
const bulkSize = 500;
/** One namespace may have hundreds of policies that select much: those of others, and all else, go on in between. */
const sliceMs = 10;
/** Whoever installs an application creates its workloads one after the other. */
const newTargetsMs = 100;
const newTargetForMs = 60_000;

/** The new workloads of a policy. */
interface NewTargets {
  /** By uid, since when. */
  readonly since: Map<string, number>;
  /** The image that they were compared with last. */
  comparedWith?: string;
}

/** Turns changes that the caches see into jobs. What Redis did not take is kept and tried again; what a crash loses, the next sweep finds. */
export function createEnqueuer(ports: EnqueuerPorts): Enqueuer {
  const pending = new Map<string, PolicyJob>();
  let timer: NodeJS.Timeout | undefined;
  const considered = new Map<string, ImagePolicy>();
  const newTargets = new Map<string, NewTargets>();
  const arrived = new Map<string, ImagePolicy>();
  let newTargetsTimer: NodeJS.Timeout | undefined;
  const stopping = new AbortController();

  const schedule = (delayMs: number) => {
    if (!stopping.signal.aborted) timer ??= setTimeout(() => void flush(), delayMs);
  };
  /** What is odd about one policy must hold up no other, nor end the process. */
  const isolated = (judgeOne: () => readonly (PolicyJob | undefined)[]) => {
    try {
      for (const job of judgeOne()) if (job !== undefined) pending.set(policyJobId(job), job);
    } catch (error) {
      ports.onError(error);
    }
  };
  const compare = (policy: ImagePolicy, known: NewTargets): PolicyJob | undefined => {
    known.comparedWith = selectedBy(policy);
    return newTargetJob(policy, new Set(known.since.keys()), ports, ports.clock());
  };
  const expire = (key: string, { since }: NewTargets) => {
    for (const [uid, at] of since) if (ports.now() - at >= newTargetForMs) since.delete(uid);
    if (since.size === 0) newTargets.delete(key);
  };
  const followUp = (policy: ImagePolicy): PolicyJob | undefined => {
    const known = newTargets.get(policyKey(policy));
    if (known?.comparedWith === undefined) return undefined;
    expire(policyKey(policy), known);
    return known.since.size > 0 && selectedBy(policy) !== known.comparedWith ? compare(policy, known) : undefined;
  };
  const judge = () => {
    const sliceEnd = performance.now() + sliceMs;
    for (const [key, policy] of considered) {
      considered.delete(key);
      isolated(() => [
        ...neededReconciles(policy, ports, ports.clock(), ports.secretVersions),
        alarmJob(policy),
        rolloutJob(policy, ports, ports.clock()),
        followUp(policy),
      ]);
      if (performance.now() >= sliceEnd) return;
    }
  };
  const flush = async () => {
    try {
      judge();
      while (pending.size > 0 && !stopping.signal.aborted) {
        const batch = [...pending].slice(0, bulkSize);
        await ports.addPolicyJobs(batch.map(([, job]) => job));
        for (const [id] of batch) pending.delete(id);
      }
      timer = undefined;
      if (pending.size + considered.size > 0) schedule(0);
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
  const welcome = () => {
    newTargetsTimer = undefined;
    const sliceEnd = performance.now() + sliceMs;
    for (const [key, { namespace, name }] of arrived) {
      arrived.delete(key);
      const [policy, known] = [ports.findPolicy(namespace, name), newTargets.get(key)];
      if (policy === undefined || known === undefined) newTargets.delete(key);
      else isolated(() => [compare(policy, known)]);
      if (performance.now() >= sliceEnd) break;
    }
    if (pending.size > 0) schedule(0);
    if (arrived.size > 0 && !stopping.signal.aborted) newTargetsTimer = setTimeout(welcome, 0);
  };

  return {
    consider,
    considerNewTarget(policy, uid) {
      if (stopping.signal.aborted) return;
      const key = policyKey(policy);
      const known = newTargets.get(key) ?? { since: new Map<string, number>() };
      known.since.set(uid, ports.now());
      newTargets.set(key, known);
      arrived.set(key, policy);
      newTargetsTimer ??= setTimeout(welcome, newTargetsMs);
    },
    resync() {
      // Of policies that were deleted, too.
      for (const [key, known] of newTargets) expire(key, known);
      for (const policy of ports.policies()) consider(policy);
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
