import type { Candidate } from '../../model/image-reference.ts';
import type { Consent, CrossNamespace } from '../consent.ts';
import type { ImagePolicy, PolicySpec } from '../../model/image-policy.ts';
import type { AppliedChange, TargetPlan } from '../plan-update.ts';
import type { Reason } from '../../model/reasons.ts';

/** Everything that guards may judge by: all of it data. */
export interface GuardContext {
  readonly policy: Pick<ImagePolicy, 'namespace' | 'legacyTarget'> & Partial<Pick<ImagePolicy, 'uid' | 'status' | 'actions'>>;
  readonly crossNamespace: CrossNamespace;
  /** By workload, as it was read a moment ago; undefined where nobody was asked yet, and nothing is about to be patched. */
  readonly consents?: ReadonlyMap<string, Consent>;
  readonly spec: Pick<PolicySpec, 'mode' | 'windows' | 'strategy'>;
  readonly candidate: Candidate;
  readonly now: Date;
  /** How often a container may be changed to one and the same image in an hour. */
  readonly repeatsPerHour: number;
  /** What was changed in this look already. */
  readonly applied?: readonly AppliedChange[];
}

/**
 * refused: the user must act, the target is a problem · waits: it is changed at `until` · kept: it stays as it is until something else happens, which the
 * message says. What is not about all containers of the target names those it is about.
 */
export type Verdict = { readonly reason: Reason; readonly message: string; readonly containers?: readonly string[] } & (
  | { readonly kind: 'refused' }
  | { readonly kind: 'kept' }
  | { readonly kind: 'waits'; readonly until: Date }
);

/** A check before a change: pure, and about targets that would be changed only. */
export interface Guard {
  /** The one id, also in the file name. */
  readonly id: string;
  /** Whether also a rollback that a user asked for has to pass. */
  readonly bindsRollback: boolean;
  /** Why the target must not be changed (now); undefined when it may. */
  judge(target: TargetPlan, context: GuardContext): Verdict | undefined;
}
