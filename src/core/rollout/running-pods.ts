import type { WorkloadRollout } from '../model/workload.ts';

/** The pods of a workload, and the images that they run. */
export interface RunningPods {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** How far the controller of the workload has brought the newest revision. */
  readonly rollout?: WorkloadRollout;
  /** The consent annotation of the workload, for policies of other namespaces. */
  readonly allowPoliciesFrom?: string;
  /** The digests for which we restarted the workload, the latest first. */
  readonly restartedFor: readonly string[];
  /** The time of the last restart of the workload, by us or others. */
  readonly restartedAt?: string;
  /** The containers that pull their image at each start. */
  readonly pullsAlways: readonly string[];
  /** The digests that pods run, by container; of at most 200 pods. */
  readonly digests: ReadonlyMap<string, ReadonlySet<string>>;
}
