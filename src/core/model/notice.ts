/** What happened and is worth a message to somebody. */

/** What a notice can be about, in the words of `notifications.targets[].events`. */
export const noticeKinds = [
  'Updated',
  'RolledOut',
  'RolloutFailed',
  'RolledBack',
  'ApprovalRequired',
  'Blocked',
  'WebhookMissing',
  'CertificateExpiring',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export const noticeSubjects = ['ImagePolicy', 'BaseImagePolicy', 'Certificate'] as const;

/** What a notice is about: a policy, or a certificate that the service uses, which has no namespace. */
export interface NoticeSubject {
  readonly kind: (typeof noticeSubjects)[number];
  readonly namespace?: string;
  readonly name: string;
  /** Part of the identity of a notice: an object of the same name may be another one. */
  readonly uid: string;
}

/** One notice; its texts come from registries and users, and are escaped for each target. */
export interface Notice {
  readonly kind: NoticeKind;
  readonly subject: NoticeSubject;
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
  /** The push that led to it, whose audit record says so if the notice is given up; absent if none did. */
  readonly eventId?: string;
}

/** Why no message was sent. Refused: the target does not accept this message; NotAccepted: it accepted none for a day. */
export const givenUpReasons = ['Refused', 'NotAccepted'] as const;

/** A notice that was given up, as the audit record of its push shows it. */
export interface GivenUpNotice {
  readonly target: string;
  readonly kind: NoticeKind;
  readonly reason: (typeof givenUpReasons)[number];
  /** What the target answered. */
  readonly message?: string;
  /** RFC 3339. */
  readonly at: string;
}

/** `shop/web`, or the name of what has no namespace. */
export function formatSubject({ namespace, name }: Pick<NoticeSubject, 'namespace' | 'name'>): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** A notice as it is stored: the identity is the same whenever and however often the same event is found. */
export interface IdentifiedNotice {
  readonly notice: Notice;
  readonly identity: readonly string[];
}
