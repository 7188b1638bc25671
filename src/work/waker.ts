import type { ImagePolicy } from '../core/image-policy.ts';
import { policyJobId, type PolicyJob } from '../queue/jobs.ts';
import type { Workload, WorkloadRef } from '../core/workload.ts';
import { alarmJob } from './alarm-job.ts';
import { wakeJob, type SecretVersions } from './wake-policies.ts';
import { rolloutJob } from './wake-rollouts.ts';

export interface WakerPorts {
  readonly policies: () => Iterable<ImagePolicy>;
  readonly findWorkload: (ref: WorkloadRef) => Workload | undefined;
  readonly secretVersions: SecretVersions;
  readonly addPolicyJobs: (jobs: readonly PolicyJob[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly now: () => Date;
}

export interface Waker {
  /** Asks whether a policy wants a look; jobs of one moment go to Redis together. */
  consider(policy: ImagePolicy): void;
  considerAll(): void;
  stop(): void;
}

const retryMs = 1_000;
const bulkSize = 500;

/** Turns changes that the caches see into jobs. What Redis did not take is kept and tried again; what a crash loses, the next sweep finds. */
export function createWaker(ports: WakerPorts): Waker {
  const pending = new Map<string, PolicyJob>();
  let timer: NodeJS.Timeout | undefined;
  const stopping = new AbortController();

  const schedule = (delayMs: number) => {
    if (!stopping.signal.aborted) timer ??= setTimeout(() => void flush(), delayMs);
  };
  const flush = async () => {
    try {
      while (pending.size > 0 && !stopping.signal.aborted) {
        const batch = [...pending].slice(0, bulkSize);
        await ports.addPolicyJobs(batch.map(([, job]) => job));
        for (const [id] of batch) pending.delete(id);
      }
      timer = undefined;
      if (pending.size > 0) schedule(0);
    } catch (error) {
      ports.onError(error);
      timer = undefined;
      schedule(retryMs);
    }
  };
  const consider = (policy: ImagePolicy) => {
    for (const job of [
      wakeJob(policy, ports.findWorkload, ports.now(), ports.secretVersions),
      alarmJob(policy),
      rolloutJob(policy, ports.findWorkload, ports.now()),
    ]) {
      if (job === undefined) continue;
      pending.set(policyJobId(job), job);
      schedule(0);
    }
  };

  return {
    consider,
    considerAll() {
      for (const policy of ports.policies()) consider(policy);
    },
    stop() {
      stopping.abort();
      clearTimeout(timer);
    },
  };
}
