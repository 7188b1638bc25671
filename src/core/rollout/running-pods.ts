import type { WorkloadRollout } from '../model/workload.ts';

/** What a workload runs. */
export interface RunningPods {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** How far its controller has brought the newest revision. */
  readonly rollout?: WorkloadRollout;
  /** The answer of its owners to policies of other namespaces. */
  readonly allowPoliciesFrom?: string;
  /** The digests that we restarted it for, the latest first. */
  readonly restartedFor: readonly string[];
  /** The time of the last restart of the workload, by us or others. */
  readonly restartedAt?: string;
  /** The containers that pull their image at each start. */
  readonly pullsAlways: readonly string[];
  /** The digests that pods run, by container; of at most 200 pods. */
  readonly digests: ReadonlyMap<string, ReadonlySet<string>>;
}
