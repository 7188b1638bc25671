import type { Outcome } from '../plan/outcome.ts';
import type { Reason } from '../model/reasons.ts';
import type { Workload } from '../model/workload.ts';

/** How the reconcile of a policy ended: with an outcome, or with the reason why it is requeued. */
export interface Decision extends Pick<Outcome, 'reason' | 'message' | 'tag' | 'blocked'> {
  readonly kind: Outcome['kind'] | 'retrying';
}

/** Receives decisions as they are reported, for traces; must not throw. */
export interface DecisionObserver {
  /** The policies that watch the repository of a push; may be empty. */
  readonly matched?: (policies: readonly string[]) => void;
  /** `policy` is `namespace/name`. */
  readonly decided?: (policy: string, decision: Decision) => void;
  /** A rollout has completed or failed. */
  readonly rolledOut?: (policy: string, workload: Workload, result: { readonly reason: Reason; readonly message: string }) => void;
}
