import { inSlices } from '../../../core/async/in-parallel.ts';
import { policyKey, type ImagePolicy } from '../../../core/model/image-policy.ts';
import type { Turns } from '../../../core/async/turns.ts';
import { asSeenBy } from '../../../core/plan/consent.ts';
import { policyJobId, type PolicyJob, type PushJob } from '../../queue/jobs.ts';
import { evidenceJobs } from './evidence-jobs.ts';
import { waitJob } from './wait-job.ts';
import { waveJob } from './wave-job.ts';
import type { ClusterView, JobQueue, Policies, Report, SeenCluster } from '../ports.ts';
import { changedTargetsJob, newTargetJob, neededReconciles, selectedJob } from './needs-reconcile.ts';
import { checkJobs } from '../checks/check-jobs.ts';
import { rolloutJob } from '../rollouts/rollout-job.ts';

export interface EnqueuerPorts {
  readonly policies: Pick<Policies, 'all' | 'find' | 'secretVersions' | 'recentPushes'>;
  readonly cluster: ClusterView;
  readonly queues: JobQueue;
  /** Resolves when no image is being patched, or after a while: what many patches change is checked once. */
  readonly untilPatched?: Report['untilPatched'] | undefined;
  /** The turns of work that gives way to pushes. */
  readonly turns: Pick<Turns, 'next'>;
  readonly onError: (error: unknown) => void;
}

/** A changed policy, with its state before the change in `previous`. */
export interface PolicyChange {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly object: ImagePolicy;
  readonly previous?: ImagePolicy;
}

export interface Enqueuer {
  /**
   * Checks whether a policy needs a reconcile. All events in a turn of the event loop share one check, because a change of hundreds of targets causes hundreds
   * of events, and each check covers all targets. Jobs of the same turn are sent to Redis together.
   */
  consider(policy: ImagePolicy): void;
  /** Considers a changed policy. Pushes that were matched without the change, because the watch has delivered it late, are matched again. */
  onPolicy(change: PolicyChange): void;
  /**
   * Checks whether a policy needs a reconcile for a new target, by the target's uid. New targets that come together are checked together. The check is repeated
   * if the policy selects another image within a minute, because a push that was in progress when the workload appeared did not see it.
   */
  considerNewTarget(policy: ImagePolicy, uid: string): void;
  /** Enqueues a policy whose namespace is selected now and was not before; `version` is the version of the Namespace. */
  addSelected(policy: ImagePolicy, version: string): void;
  /** Checks all policies in slices that give way to pushes. */
  resync(): void;
  /** Visits all policies in slices, and goes on after an error. Resolves at the end, or when the enqueuer is stopped. */
  visitAll(visit: (policy: ImagePolicy) => void): Promise<void>;
  stop(): void;
}

const retryMs = 1_000;
const bulkSize = 500;
/** How long policies are checked before other namespaces and other work get a turn. One namespace may have hundreds of policies with broad selectors. */
const sliceMs = 10;
/** How long policies of a pass over all policies are checked before pushes and other work get a turn. */
const passSliceMs = 2;
/** How long new targets are gathered. An installation creates the workloads of an application one after the other. */
const newTargetsMs = 100;
const newTargetForMs = 60_000;
/** How long missed pushes are gathered, so that whoever edits a policy all the time cannot have them matched as often. */
const missedMs = 1_000;

/** The new targets of a policy. */
interface NewTargets {
  /** When each new target appeared, by uid. */
  readonly since: Map<string, number>;
  /** The image that the new targets were last compared with. */
  comparedWith?: string;
}

/** Creates the enqueuer, which turns changes in the caches into jobs. Jobs that Redis did not accept are sent again; the next resync finds lost ones. */
export function createEnqueuer(ports: EnqueuerPorts): Enqueuer {
  const pending = new Map<string, PolicyJob>();
  /** Pushes that were matched before the watch delivered a policy. */
  const missed = new Map<string, PushJob>();
  let missedTimer: NodeJS.Timeout | undefined;
  let timer: NodeJS.Timeout | undefined;
  const considered = new Map<string, ImagePolicy>();
  /** Whether a pass over all policies is under way; `isPassRequested`: another one was requested. */
  let isPassing = false;
  let isPassRequested = false;
  /** Whether a turn has left policies to the next one, which then waits for nothing. */
  let goesOn = false;
  const newTargets = new Map<string, NewTargets>();
  const arrived = new Map<string, ImagePolicy>();
  let newTargetsTimer: NodeJS.Timeout | undefined;
  const stopping = new AbortController();

  const schedule = (delayMs: number) => {
    if (!stopping.signal.aborted) timer ??= setTimeout(() => void flush(), delayMs);
  };
  /** Runs a check so that an error in one policy neither delays another policy nor ends the process. */
  const isolated = (evaluateOne: () => readonly (PolicyJob | undefined)[]) => {
    try {
      for (const job of evaluateOne()) if (job !== undefined) pending.set(policyJobId(job), job);
    } catch (error) {
      ports.onError(error);
    }
  };
  const compare = (policy: ImagePolicy, seen: SeenCluster, known: NewTargets): PolicyJob | undefined => {
    known.comparedWith = selectedBy(policy);
    const now = new Date(seen.now());
    return newTargetJob(policy, new Set(known.since.keys()), seen, now) ?? changedTargetsJob(policy, seen, { now, withNew: true });
  };
  const expire = (key: string, { since }: NewTargets) => {
    for (const [uid, at] of since) if (ports.cluster.now() - at >= newTargetForMs) since.delete(uid);
    if (since.size === 0) newTargets.delete(key);
  };
  const followUp = (policy: ImagePolicy, seen: SeenCluster): PolicyJob | undefined => {
    const known = newTargets.get(policyKey(policy));
    if (known?.comparedWith === undefined) return undefined;
    expire(policyKey(policy), known);
    return known.since.size > 0 && selectedBy(policy) !== known.comparedWith ? compare(policy, seen, known) : undefined;
  };
  const evaluateOne = (policy: ImagePolicy, withNew: boolean) => {
    isolated(() => {
      const seen = asSeenBy(policy, ports.cluster);
      const now = new Date(seen.now());
      return [
        ...neededReconciles(policy, seen, { now, withNew }, ports.policies.secretVersions),
        waitJob(policy),
        ...evidenceJobs(policy, now),
        waveJob(policy, seen),
        rolloutJob(policy, seen, now),
        ...checkJobs(policy, now),
        followUp(policy, seen),
      ];
    });
  };
  /** Checks all policies, each in its present state: a copy of all at the start would be megabytes of garbage each minute. Never rejects. */
  const passAll = async () => {
    isPassing = true;
    while (isPassRequested && !stopping.signal.aborted) {
      isPassRequested = false;
      try {
        await passOnce();
      } catch (error) {
        ports.onError(error);
      }
    }
    isPassing = false;
  };
  const passOnce = async () => {
    await ports.turns.next();
    let sliceEnd = performance.now() + passSliceMs;
    for (const policy of ports.policies.all()) {
      if (stopping.signal.aborted) return;
      evaluateOne(policy, true);
      if (performance.now() < sliceEnd) continue;
      if (pending.size > 0) schedule(0);
      await ports.turns.next();
      sliceEnd = performance.now() + passSliceMs;
    }
    if (pending.size > 0) schedule(0);
  };
  const evaluate = () => {
    const sliceEnd = performance.now() + sliceMs;
    for (const [key, policy] of considered) {
      considered.delete(key);
      evaluateOne(policy, false);
      if (performance.now() >= sliceEnd) break;
    }
  };
  const flush = async () => {
    try {
      await (goesOn || considered.size === 0 ? undefined : ports.untilPatched?.());
      evaluate();
      goesOn = considered.size > 0;
      while (pending.size > 0 && !stopping.signal.aborted) {
        const batch = [...pending].slice(0, bulkSize);
        await ports.queues.addPolicyJobs(batch.map(([, job]) => job));
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
  const repeatMissed = async () => {
    const pushes = [...missed.values()];
    missed.clear();
    try {
      await ports.queues.repeatPushes(pushes);
    } catch (error) {
      ports.onError(error);
      for (const push of pushes) if (!missed.has(push.id)) missed.set(push.id, push);
    }
    missedTimer = undefined;
    if (missed.size > 0) scheduleMissed();
  };
  const scheduleMissed = () => {
    if (!stopping.signal.aborted) missedTimer ??= setTimeout(() => void repeatMissed(), missedMs);
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
      else isolated(() => [compare(policy, asSeenBy(policy, ports.cluster), known)]);
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
    onPolicy({ type, object, previous }) {
      if (type === 'deleted') return;
      consider(object);
      if (object.generation !== previous?.generation)
        for (const push of ports.policies.recentPushes.missedBy(object)) missed.set(push.id, push);
      if (missed.size > 0) scheduleMissed();
    },
    addSelected(policy, version) {
      isolated(() => [selectedJob(policy, version, new Date(ports.cluster.now()))]);
      schedule(0);
    },
    async visitAll(visit) {
      const visitOne = (policy: ImagePolicy) =>
        isolated(() => {
          visit(policy);
          return [];
        });
      // The pass rejects only when the enqueuer is stopped.
      await inSlices(ports.policies.all(), stopping.signal, visitOne).catch(() => undefined);
    },
    resync() {
      // Expired targets are removed here, also those of policies that were deleted.
      for (const [key, known] of newTargets) expire(key, known);
      isPassRequested = true;
      if (!isPassing) void passAll();
    },
    stop() {
      stopping.abort();
      clearTimeout(timer);
      clearTimeout(newTargetsTimer);
      clearTimeout(missedTimer);
    },
  };
}

function selectedBy({ status: { latest } }: ImagePolicy): string {
  return latest === undefined ? '' : `${latest.tag}@${latest.digest ?? ''}`;
}
