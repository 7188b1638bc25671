/** `status` of a policy, as the program works with it: the shape of v1. All times are RFC 3339. */
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
  /** Known also of policies that were updated before there was a history. */
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

/** What makes somebody look at a policy. */
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

/** What the policy selects. */
export interface LatestImage {
  readonly tag: string;
  readonly digest?: string;
  /** When the image was created, where the choice hangs on that. */
  readonly createdAt?: string;
  readonly selectedAt: string;
}

/** What caused the last look that changed or found something. */
export interface Trigger {
  readonly source: TriggerSource;
  readonly receiver?: string;
  readonly event?: string;
  readonly receivedAt?: string;
  readonly handledAt: string;
}

/** What is not looked at before a time. */
export interface Waiting {
  readonly tag?: string;
  readonly digest?: string;
  /** Since when it waits. */
  readonly since?: string;
  readonly until: string;
  readonly reason: string;
}

/** One container of one target, or (without a container) a target that has none to show. */
export interface ContainerState {
  /** Only of custom resources. */
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

/** Workloads that run what the policy gave them. */
export interface RolloutCounts {
  readonly progressing: number;
  readonly done: number;
  readonly failed: number;
  readonly rolledBack: number;
  /** Changes up to this time are over: what happens to their workloads later is no rollout. */
  readonly settledAt?: string;
}

/** One change of one container. */
export interface HistoryEntry {
  /** Only of custom resources. */
  readonly apiVersion?: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Absent in what earlier versions wrote. */
  readonly uid?: string;
  readonly container: string;
  /** Absent where it is not known: the change was found afterwards. */
  readonly from?: string;
  readonly to: string;
  readonly tag: string;
  readonly digest?: string;
  readonly trigger: TriggerSource;
  readonly at: string;
  readonly result: 'Applied' | 'RolledOut' | 'RolledBack' | 'Failed';
  /** Why it failed and is not rolled back, and since when that is known. */
  readonly rollbackRefused?: { readonly reason: string; readonly message: string; readonly at: string };
}

/** An image that failed. */
export interface RejectedImage {
  readonly digest: string;
  readonly tag?: string;
  readonly reason: string;
  readonly message?: string;
  readonly at: string;
}

/** Changes of a container that a GitOps tool has put back. */
export interface Reversion {
  /** Only of custom resources. */
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

/** So many entries a list of the status has at most: the rest would make it larger with every change. */
export const maxListed = 10;
