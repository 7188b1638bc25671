import type { Assessment } from '../../model/assessment.ts';
import type { Candidate } from '../../model/image-reference.ts';
import type { Consent, CrossNamespace } from '../consent.ts';
import type { ImagePolicy, PolicySpec } from '../../model/image-policy.ts';
import type { AppliedChange, TargetPlan, TargetProblem } from '../plan-update.ts';
import type { GuardReason } from '../../model/guard-reasons.ts';
import type { Reason } from '../../model/reasons.ts';
import type { CreationTimes } from '../../model/tag-strategy.ts';
import type { FollowedNow } from '../proven.ts';
import type { WaitReason } from '../wait-reasons.ts';

/** The data on which guards base their decisions. */
export interface GuardContext {
  readonly policy: Pick<ImagePolicy, 'namespace' | 'name' | 'legacyTarget'> &
    Partial<Pick<ImagePolicy, 'uid' | 'generation' | 'status' | 'actions' | 'requested' | 'editedBy'>>;
  readonly crossNamespace: CrossNamespace;
  /** The consents by workload, as they were just read. Undefined if they were not read, and nothing is about to be patched. */
  readonly consents?: ReadonlyMap<string, Consent>;
  readonly spec: Pick<
    PolicySpec,
    'mode' | 'alongside' | 'approvals' | 'windows' | 'windowsUnless' | 'strategy' | 'rollout' | 'after' | 'vulnerabilities'
  >;
  readonly candidate: Candidate;
  /** When the candidate and the images that it replaces were created. Images that could not be read are absent; undefined if the registry was not asked. */
  readonly ages?: CreationTimes;
  /** What is known of the vulnerabilities of the candidate; undefined if nobody asked. */
  readonly assessments?: readonly Assessment[];
  readonly now: Date;
  /** What the followed policies show; undefined if the policy follows none, or if they are not known. */
  readonly followed?: FollowedNow;
  /** How often a container may be changed to the same image within an hour. */
  readonly repeatsPerHour: number;
  /** The changes that this reconcile has already made. */
  readonly applied?: readonly AppliedChange[];
  /** The changes that the API server has refused in this reconcile, by workload. */
  readonly refused?: ReadonlyMap<string, TargetProblem>;
  /** The progress of the workloads that were changed to the candidate, by key; only for a policy with waves. */
  readonly progress?: ReadonlyMap<string, TargetProgress>;
  /** The next wave of the plan, for the last guard. Unlike other decisions, it depends on all targets. */
  readonly wave?: PlannedWave;
}

/** The progress of one workload since it was changed to the candidate. */
export type TargetProgress =
  | { readonly state: 'Progressing'; /** When the rollout must be complete. */ readonly deadline: Date }
  /** The rollout failed for another reason than the image. */
  | { readonly state: 'Retried'; /** When the image is tried again. */ readonly deadline: Date }
  | { readonly state: 'Done'; /** The completion of the rollout, never before the change. */ readonly at: Date }
  | { readonly state: 'Failed' };

/** The decision of a wave about each workload, by key. A workload that may be changed now has none. */
export type PlannedWave = ReadonlyMap<string, GuardDecision>;

/**
 * The decision of a guard. refused: the target has a problem that a user must mend, and the policy is Stalled · blocked: nothing is changed until something else
 * happens, which the message names; the policy is Ready · waits: nothing is changed before `until`. It names its `containers` if it is not about all of the target.
 */
export type GuardDecision = { readonly message: string; readonly containers?: readonly string[] } & (
  | { readonly kind: 'refused'; readonly reason: Reason }
  | { readonly kind: 'blocked'; readonly reason: GuardReason }
  | { readonly kind: 'waits'; readonly reason: GuardReason & WaitReason; readonly until: Date }
);

/** A check before a change. It is pure, and only called for targets that would be changed. */
export interface Guard {
  /** The unique id of the guard, which is also its file name. */
  readonly id: string;
  /** Whether the guard also applies to a rollback that a user requested. */
  readonly bindsRollback: boolean;
  /** Why the planned `changes` of the workload `target` must not be made now; undefined if they may be. */
  check(target: TargetPlan, context: GuardContext): GuardDecision | undefined;
}
