/** What a workload runs. */
export interface RunningPods {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isPaused: boolean;
  /** The answer of its owners to policies of other namespaces. */
  readonly allowPoliciesFrom?: string;
  /** Its last restart by us. */
  readonly restartedFor?: string;
  readonly restartedAt?: string;
  /** The containers that pull their image at each start. */
  readonly pullsAlways: readonly string[];
  /** The digests that pods run, by container; of at most 200 pods. */
  readonly digests: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether all of these pods are ready. */
  readonly areReady: boolean;
}
