import type { Candidate } from '../../model/image-reference.ts';
import type { Consent, CrossNamespace } from '../consent.ts';
import type { ImagePolicy, PolicySpec } from '../../model/image-policy.ts';
import type { AppliedChange, TargetPlan, TargetProblem } from '../plan-update.ts';
import type { Reason } from '../../model/reasons.ts';
import type { CreationTimes } from '../../model/tag-strategy.ts';
import type { WaitReason } from '../wait-reasons.ts';

/** Everything that guards may use to decide: all of it data. */
export interface GuardContext {
  readonly policy: Pick<ImagePolicy, 'namespace' | 'name' | 'legacyTarget'> &
    Partial<Pick<ImagePolicy, 'uid' | 'generation' | 'status' | 'actions'>>;
  readonly crossNamespace: CrossNamespace;
  /** By workload, as it was just read; undefined where consent has not been read and nothing is about to be patched. */
  readonly consents?: ReadonlyMap<string, Consent>;
  readonly spec: Pick<PolicySpec, 'mode' | 'windows' | 'strategy' | 'rollout'>;
  readonly candidate: Candidate;
  /** When the candidate and what it replaces were created, as far as that is known. */
  readonly ages?: CreationTimes;
  readonly now: Date;
  /** How often a container may be changed to the same image within an hour. */
  readonly repeatsPerHour: number;
  /** What this reconcile has already changed. */
  readonly applied?: readonly AppliedChange[];
  /** What the API server has refused in this reconcile, by workload. */
  readonly refused?: ReadonlyMap<string, TargetProblem>;
  /** How far the workloads have come that were changed to the candidate, by key; only for a policy with waves. */
  readonly progress?: ReadonlyMap<string, TargetProgress>;
  /** The next wave of the plan, for the last guard: unlike the others, it depends on all targets. */
  readonly wave?: PlannedWave;
}

/** How far one workload has come, since it was changed to the candidate. */
export type TargetProgress =
  | { readonly state: 'Progressing'; /** When its rollout must be complete. */ readonly deadline: Date }
  /** Its rollout failed for another reason than the image. */
  | { readonly state: 'Retried'; /** When it is tried again. */ readonly deadline: Date }
  | { readonly state: 'Done'; /** Not before the change. */ readonly at: Date }
  | { readonly state: 'Failed' };

/** What a wave decides about each workload, by key; nothing about those that may be changed now. */
export type PlannedWave = ReadonlyMap<string, GuardDecision>;

/**
 * refused: the user must act, and the target has a problem · waits: it is changed at `until` · unchanged: it is not changed until something else happens, which the
 * message names. A decision that does not apply to all containers of the target names those it applies to.
 */
export type GuardDecision = { readonly message: string; readonly containers?: readonly string[] } & (
  | { readonly kind: 'refused'; readonly reason: Reason }
  | { readonly kind: 'blocked'; readonly reason: Reason }
  | { readonly kind: 'waits'; readonly reason: WaitReason; readonly until: Date }
);

/** A check before a change: pure, and only for targets that would be changed. */
export interface Guard {
  /** The unique id, also the file name. */
  readonly id: string;
  /** Whether a rollback that a user asked for must pass it, too. */
  readonly bindsRollback: boolean;
  /** Why the target must not be changed (now); undefined if it may be. */
  check(target: TargetPlan, context: GuardContext): GuardDecision | undefined;
}
