/** Notices: events that are worth a message to somebody. */
import type { VulnerabilitySeverity } from './vulnerabilities.ts';

/** The kinds of notices, in the words of `notifications.targets[].events`. */
export const noticeKinds = [
  'Updated',
  'RolledOut',
  'RolloutFailed',
  'RolledBack',
  'ApprovalRequired',
  'ApprovalEnded',
  'Blocked',
  'FixAvailable',
  'Behind',
  'Rebased',
  'RebuildRequested',
  'Refused',
  'WebhookMissing',
  'CertificateExpiring',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export const noticeSubjects = ['ImagePolicy', 'BaseImagePolicy', 'Image', 'Certificate'] as const;

/**
 * The subject of a notice: a policy; an image on a base, for those whose workloads in the namespace run it; or a certificate that the service uses, which has no
 * namespace.
 */
export interface NoticeSubject {
  readonly kind: (typeof noticeSubjects)[number];
  readonly namespace?: string;
  readonly name: string;
  /** The uid of the subject, a part of the identity of a notice: an object of the same name may be another one. */
  readonly uid: string;
}

/** How many images are on the selected base, on an older one, refused of these, and on an unknown one. */
export interface ImageCounts {
  readonly current: number;
  readonly behind: number;
  readonly refused: number;
  readonly unknown: number;
}

/** How many of all workloads a notice is about. */
export interface Share {
  readonly count: number;
  readonly total: number;
}

/** The most images of `alongside` in a notice. */
export const maxAlongside = 32;

/** The most vulnerabilities in a notice. */
export const maxFixes = 10;

/** What an image was changed from and to. `from` is absent where it is not known. */
export interface ChangedImage {
  readonly from?: string;
  readonly to: string;
}

/** A notice. Its texts come from registries and users, and are escaped for each target. */
export interface Notice {
  readonly kind: NoticeKind;
  readonly subject: NoticeSubject;
  /** The time of the event, RFC 3339. */
  readonly at: string;
  /** The tag of the image that the notice is about. */
  readonly tag?: string;
  readonly digest?: string;
  /** The digest of the set of the image and its companions, for which an approval counts; absent without companions. */
  readonly setDigest?: string;
  /** The images of the companions that were changed together with it, or would be once it is approved. */
  readonly alongside?: readonly ChangedImage[];
  /** The vulnerabilities of what runs that the image fixes, the most severe first. */
  readonly fixes?: readonly { readonly id: string; readonly severity: VulnerabilitySeverity }[];
  /** The base that the image is to be built on: `harbor.example.com/library/java:21.0.2@sha256:…`. */
  readonly base?: string;
  /** How many images are built on a base. */
  readonly images?: ImageCounts;
  /** The images that ran before the change. */
  readonly from?: readonly string[];
  /** The workloads that changed, each as `Deployment shop/web`. `hasMore` is set if the history has no room for all of them. */
  readonly workloads?: readonly string[];
  readonly hasMore?: boolean;
  /** After a failure: on how many workloads the image has failed or was left so far, of those that got it. Absent if that is not known. */
  readonly share?: Share;
  /** The digest of the image that was left; in notices about a rollback. */
  readonly undone?: string;
  /** Set if another notice follows that reports the end: after an update that is rolled out, and after a failure that is rolled back. */
  readonly interim?: boolean;
  readonly reason?: string;
  readonly message?: string;
  /** What the reader of the notice can do about it. */
  readonly nextStep?: string;
  /** The push that caused the notice; absent if none did. Its audit record shows whether the notice was given up. */
  readonly eventId?: string;
}

/** Why no message was sent. Refused: the target does not accept this message; NotAccepted: it accepted none for a day. */
export const givenUpReasons = ['Refused', 'NotAccepted'] as const;

/** A notice that was given up, as the audit record of its push shows it. */
export interface GivenUpNotice {
  readonly target: string;
  readonly kind: NoticeKind;
  readonly reason: (typeof givenUpReasons)[number];
  /** The last answer of the target. */
  readonly message?: string;
  /** The time at which the notice was given up, RFC 3339. */
  readonly at: string;
}

/** The name of a subject: `shop/web`, or the name alone without a namespace. */
export function formatSubject({ namespace, name }: Pick<NoticeSubject, 'namespace' | 'name'>): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** A notice as it is stored. Its identity is the same however often the same event is found. */
export interface IdentifiedNotice {
  readonly notice: Notice;
  readonly identity: readonly string[];
}
