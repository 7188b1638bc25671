/** The `status` of a policy, as the program works with it: the shape of v1. All times are RFC 3339. */
export interface PolicyStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly latest?: LatestImage;
  readonly trigger?: Trigger;
  /** The last time that the registry was asked for this policy. */
  readonly lastCheckTime?: string;
  readonly lastHandledRequest?: string;
  readonly lastHandledRollback?: string;
  readonly waiting?: Waiting;
  readonly targets?: readonly ContainerState[];
  readonly targetCounts?: TargetCounts;
  readonly rollouts?: RolloutCounts;
  /** Also set for policies that were updated before there was a history. */
  readonly lastAppliedTag?: string;
  /** The latest first. */
  readonly history?: readonly HistoryEntry[];
  readonly rejected?: readonly RejectedImage[];
  readonly reverted?: readonly Reversion[];
  readonly pendingApproval?: { readonly tag: string; readonly digest: string };
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

/** What can cause a reconcile. */
export type TriggerSource =
  | 'Webhook'
  | 'Poll'
  | 'PolicyChange'
  | 'TargetChange'
  | 'SecretChange'
  | 'WaitOver'
  | 'Approval'
  | 'Rollback'
  | 'Request';

/** The image that the policy selects. */
export interface LatestImage {
  readonly tag: string;
  readonly digest?: string;
  /** When the image was created, if the strategy uses that. */
  readonly createdAt?: string;
  readonly selectedAt: string;
}

/** The cause of the last reconcile that changed or found something. */
export interface Trigger {
  readonly source: TriggerSource;
  readonly receiver?: string;
  readonly event?: string;
  readonly receivedAt?: string;
  readonly handledAt: string;
}

/** An image or a retry that waits until a time. */
export interface Waiting {
  readonly tag?: string;
  readonly digest?: string;
  /** When the wait began. */
  readonly since?: string;
  readonly until: string;
  readonly reason: string;
}

/** One container of one target, or (without a container) a target that cannot show one. */
export interface ContainerState {
  /** Only for custom resources. */
  readonly apiVersion?: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
  readonly container?: string;
  readonly image?: string;
  readonly state: 'UpToDate' | 'Kept' | 'Problem';
  readonly message?: string;
}

export interface TargetCounts {
  readonly total: number;
  readonly upToDate: number;
  readonly problems: number;
}

/** Counts of the workloads that run what the policy applied. */
export interface RolloutCounts {
  readonly progressing: number;
  readonly done: number;
  readonly failed: number;
  readonly rolledBack: number;
  /** Changes up to this time are complete: what happens to their workloads later is not part of a rollout. */
  readonly settledAt?: string;
}

/** One change of one container. */
export interface HistoryEntry {
  /** Only for custom resources. */
  readonly apiVersion?: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Absent in entries of earlier versions. */
  readonly uid?: string;
  readonly container: string;
  /** Absent if unknown, because the change was found afterwards. */
  readonly from?: string;
  readonly to: string;
  readonly tag: string;
  readonly digest?: string;
  readonly trigger: TriggerSource;
  readonly at: string;
  readonly result: 'Applied' | 'RolledOut' | 'RolledBack' | 'Failed';
  /** Why a failed change is not rolled back, and when that was found. */
  readonly rollbackRefused?: { readonly reason: string; readonly message: string; readonly at: string };
}

/** An image that is not applied again. */
export interface RejectedImage {
  readonly digest: string;
  readonly tag?: string;
  readonly reason: string;
  readonly message?: string;
  readonly at: string;
}

/** How often a GitOps tool reverted the changes of a container. */
export interface Reversion {
  /** Only for custom resources. */
  readonly apiVersion?: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  readonly tag: string;
  readonly digest?: string;
  readonly count: number;
  readonly at: string;
}

/** The maximum length of a list in the status, which would otherwise grow with every change. */
export const maxListed = 10;
