/** The progress of a workload's newest revision, as its controller reports it: the same numbers for all kinds that roll out. */
export interface WorkloadRollout {
  /** The generation that the numbers describe. */
  readonly observedGeneration: number;
  /** How many pods it should have. */
  readonly wanted: number;
  /** How many of them should be of the newest revision: fewer than `wanted` with a partition. */
  readonly toUpdate: number;
  /** Pods of the newest revision. */
  readonly updated: number;
  readonly available: number;
  /** Pods of older revisions that still have to be removed. */
  readonly outdated: number;
  /** The controller observed the newest revision complete once: a later failure is not a failed rollout. */
  readonly wasComplete: boolean;
  /** The controller reports that the newest revision was never complete; absent if it was, or if the controller does not report it. */
  readonly isIncomplete?: boolean;
  /** Why the controller cannot create pods, for a reason unrelated to the image. */
  readonly cannotCreate?: string;
  /** The controller's message when it has given up; it may refer to an older revision. */
  readonly givenUp?: { readonly message: string; readonly at: string };
  /** Why nothing rolls out automatically. */
  readonly standsStill?: string;
  /** When it resumed, if it was paused or had stopped. */
  readonly resumedAt?: string;
}
