import { defined } from './defined.ts';
import { isDigest, isTag } from './image-reference.ts';
import { readApprovals, type NamedApproval } from './named-approvals.ts';
import { readHold, type NamedHold } from './named-hold.ts';
import { readTime } from './text.ts';
import { isSameJson } from './untyped.ts';

const prefix = 'operator.technomad.dev/';
const maxLength = 253;

/** The annotations with which users act on a policy, using their own rights on it. */
export const actionAnnotations = {
  approve: `${prefix}approve`,
  reject: `${prefix}reject`,
  rollbackTo: `${prefix}rollback-to`,
  release: `${prefix}release`,
  promote: `${prefix}promote`,
  requestedAt: `${prefix}requested-at`,
} as const;

/** The annotation with the author of a request by the API or a command: `approve 1.4.2@sha256:… ada@example.com`. The chart's admission policy permits only one's own name. */
export const requestedByAnnotation = `${prefix}requested-by`;

/** The annotation with the reason that the author of a request has given: `approve 1.4.2@sha256:… fixes the login`. */
export const requestReasonAnnotation = `${prefix}request-reason`;
/** The maximum number of characters of a reason. */
export const maxReason = 300;

/** The annotations that request an action: its own, and who requests it and why, as far as that is known. The ones of an earlier request are removed. */
export function requestAnnotations(
  action: ActionName,
  value: string,
  { user, reason }: { readonly user?: string | undefined; readonly reason?: string | undefined },
): Readonly<Record<string, string | null>> {
  const about = (text: string | undefined) => (text === undefined || text === '' ? null : `${action} ${value} ${text}`);
  return {
    [actionAnnotations[actionKeys[action]]]: value,
    [requestedByAnnotation]: about(user),
    [requestReasonAnnotation]: about(reason?.slice(0, maxReason)),
  };
}

/**
 * The action that was requested last by the API or a command, if its annotation still has the requested value. Users also write annotations directly. The value is
 * compared as it is written, like the admission policy does: the end of a value that was shortened or trimmed would be taken for a part of the user's name.
 */
export function readRequest(annotations: Readonly<Record<string, unknown>>): RequestedAction | undefined {
  for (const [action, key] of Object.entries(actionKeys) as [ActionName, keyof typeof actionAnnotations][]) {
    const value = annotations[actionAnnotations[key]];
    if (typeof value !== 'string' || value === '') continue;
    const about = (annotation: string, length: number) => textAfter(annotations[annotation], `${action} ${value} `, length);
    const user = about(requestedByAnnotation, maxLength);
    if (user !== undefined) return { action, user, ...defined({ reason: about(requestReasonAnnotation, maxReason) }) };
  }
  return undefined;
}

/** What follows the start of a text; undefined if the text does not begin with it, or nothing follows. */
function textAfter(text: unknown, start: string, length: number): string | undefined {
  if (typeof text !== 'string' || !text.startsWith(start) || text.length === start.length) return undefined;
  return text.slice(start.length, start.length + length);
}

/** The names of the commands, and the annotations that they write. */
export const actionKeys = {
  approve: 'approve',
  reject: 'reject',
  rollback: 'rollbackTo',
  release: 'release',
  promote: 'promote',
  check: 'requestedAt',
} as const;
export type ActionName = keyof typeof actionKeys;

/** An action of a policy, who requested it, and why. */
export interface RequestedAction {
  readonly action: ActionName;
  readonly user: string;
  readonly reason?: string;
}

/** The requests of users to a policy: the values of the annotations, as written. */
export interface PolicyActions {
  /** The image that may be applied: `TAG@sha256:…`. */
  readonly approve?: string;
  /** The image that must not be applied: `TAG@sha256:…`. Text after a space is ignored, so that the same image can be rejected again after a release. */
  readonly reject?: string;
  /** The image to roll back to: `TAG` or `previous`. Text after a space is ignored, so that the same rollback can be requested twice. */
  readonly rollbackTo?: string;
  /** The time up to which holds are released. */
  readonly release?: string;
  /** The image that may be applied although it is not proven, or the policy is on hold: `TAG@sha256:… TIME`. */
  readonly promote?: string;
  /** A request for a reconcile. Each new value is a new request. */
  readonly requestedAt?: string;
  /** The approvals of a policy that asks for several people, the earliest first. */
  readonly approvals?: readonly NamedApproval[];
  /** The hold that keeps the policy at the image that it runs. */
  readonly hold?: NamedHold;
}

/** Reads the annotations of a policy. Empty ones are no requests. */
export function readActions(annotations: Readonly<Record<string, unknown>>): PolicyActions {
  const entries = Object.entries(actionAnnotations).map(([action, annotation]): [string, unknown] => [action, annotations[annotation]]);
  const approvals = readApprovals(annotations);
  const hold = readHold(annotations);
  return {
    ...Object.fromEntries(
      entries.flatMap(([action, value]) =>
        typeof value === 'string' && value.trim() !== '' ? [[action, value.trim().slice(0, maxLength)]] : [],
      ),
    ),
    ...(approvals.length > 0 && { approvals }),
    ...defined({ hold }),
  };
}

/** Whether two policies have the same requests. */
export function sameActions(a: PolicyActions = {}, b: PolicyActions = {}): boolean {
  const isSame = Object.keys(actionAnnotations).every((key) => a[key as keyof PolicyActions] === b[key as keyof PolicyActions]);
  return isSame && isSameJson([a.approvals ?? [], a.hold], [b.approvals ?? [], b.hold]);
}

/** The image that an approval names; undefined if it is not `TAG@DIGEST`. */
export function parseApproval(value: string | undefined): { readonly tag: string; readonly digest: string } | undefined {
  const [, tag = '', digest = ''] = /^([^@]+)@(.+)$/.exec(value ?? '') ?? [];
  return isTag(tag) && isDigest(digest) ? { tag, digest } : undefined;
}

/** The image that a rejection names; undefined if it does not begin with `TAG@DIGEST`. */
export function parseRejection(value: string | undefined): { readonly tag: string; readonly digest: string } | undefined {
  return parseApproval(value?.split(' ')[0]);
}

/** Whether the image of this tag and digest is approved. */
export function isApproved({ approve }: PolicyActions = {}, { tag, digest }: { readonly tag: string; readonly digest: string }): boolean {
  const approved = parseApproval(approve);
  return approved?.tag === tag && approved.digest === digest;
}

/** The time of a release; undefined if the value is not a time. */
export function releaseTime({ release }: PolicyActions = {}): Date | undefined {
  return release === undefined ? undefined : readTime(release);
}

/** The requested rollback: `previous` or a tag; undefined if the value has neither. */
export function parseRollback(value: string | undefined): string | undefined {
  const [tag = ''] = (value ?? '').split(' ');
  return isTag(tag) ? tag : undefined;
}
