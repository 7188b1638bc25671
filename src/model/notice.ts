/** What happened to a policy and is worth a message to somebody. */

/** What a notice can be about, in the words of `notifications.targets[].on`. */
export const noticeKinds = ['Updated', 'RolledOut', 'RolloutFailed', 'RolledBack', 'ApprovalRequired', 'Blocked'] as const;
export type NoticeKind = (typeof noticeKinds)[number];

/** One notice; its texts come from registries and users, and are escaped for each target. */
export interface Notice {
  readonly kind: NoticeKind;
  readonly policy: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** RFC 3339. */
  readonly at: string;
  /** The image that it is about. */
  readonly tag?: string;
  readonly digest?: string;
  /** The images that ran before. */
  readonly from?: readonly string[];
  /** The workloads that changed: `Deployment shop/web`; `hasMore` if the history has no room for all of them. */
  readonly workloads?: readonly string[];
  readonly hasMore?: boolean;
  readonly reason?: string;
  readonly message?: string;
}
