import type { Outcome } from '../plan/outcome.ts';
import type { Reason } from '../model/reasons.ts';
import type { Workload } from '../model/workload.ts';

/** How a look at a policy ended: with an outcome, or with what makes it come again. */
export interface Decision extends Pick<Outcome, 'reason' | 'message' | 'tag' | 'blocked'> {
  readonly kind: Outcome['kind'] | 'retrying';
}

/** Told of decisions as they are reported, for traces; must not throw. */
export interface DecisionObserver {
  /** The policies that watch the repository of a push; maybe none. */
  readonly matched?: (policies: readonly string[]) => void;
  /** `policy` is `namespace/name`. */
  readonly decided?: (policy: string, decision: Decision) => void;
  /** A rollout is over, one way or the other. */
  readonly rolledOut?: (policy: string, workload: Workload, ending: { readonly reason: Reason; readonly message: string }) => void;
}
