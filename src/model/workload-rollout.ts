/** How far the newest revision of a workload is out, as its controller tells it: the same numbers for all kinds that roll out. */
export interface WorkloadRollout {
  /** The generation that the numbers speak of. */
  readonly observedGeneration: number;
  /** How many pods it should have. */
  readonly wanted: number;
  /** How many of them should be of the newest revision: fewer than wanted with a partition. */
  readonly toUpdate: number;
  /** Pods of the newest revision. */
  readonly updated: number;
  readonly available: number;
  /** Pods of older revisions that still have to go. */
  readonly outdated: number;
  /** The controller saw the newest revision complete once: what fails later is no failed rollout. */
  readonly wasComplete: boolean;
  /** The controller says that the newest revision was never complete: absent where it says so, and where it says nothing of that. */
  readonly isIncomplete?: boolean;
  /** Why the controller may not create pods, where that is no verdict on the pods themselves. */
  readonly cannotCreate?: string;
  /** The controller's own words, where it has given up; they may be of an older revision. */
  readonly givenUp?: { readonly message: string; readonly at: string };
  /** Why nothing rolls out by itself. */
  readonly standsStill?: string;
  /** Since when it makes progress, where it was paused or had stopped. */
  readonly resumedAt?: string;
}
