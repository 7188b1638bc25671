import type { Repository } from './image-reference.ts';
import type { Reason } from './reasons.ts';
import type { TagStrategy } from './strategies/strategy.ts';
import type { WorkloadRef } from './workload.ts';

/** An ImagePolicy as the program works with it, whichever API version it was written in. */
export interface ImagePolicy {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  readonly apiVersion: string;
  /** What is wanted, or why it cannot be understood. */
  readonly spec: PolicySpec | PolicyProblem;
  readonly status: PolicyStatus;
}

export interface PolicySpec {
  readonly repository: Repository;
  readonly strategy: TagStrategy;
  /** `Tag`: repo:tag. `Digest`: repo:tag@sha256:… */
  readonly pin: 'Tag' | 'Digest';
  readonly targets: readonly WorkloadRef[];
  readonly pollIntervalMs: number;
}

/** A spec that cannot be acted on: the policy is Stalled with this, and the others go on. */
export interface PolicyProblem {
  readonly problem: { readonly reason: Reason; readonly message: string };
}

export interface PolicyStatus {
  readonly observedGeneration?: number;
  /** RFC 3339; the last time that the registry was asked for this policy. */
  readonly lastCheckedTime?: string;
  readonly lastAppliedTag?: string;
  readonly conditions?: readonly Condition[];
}

/** metav1.Condition. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** Whether the spec could be understood. */
export function isUsable(spec: PolicySpec | PolicyProblem): spec is PolicySpec {
  return !('problem' in spec);
}

/** `shop/web`: the one text form of a policy's name. */
export function policyKey(policy: { namespace: string; name: string }): string {
  return `${policy.namespace}/${policy.name}`;
}
