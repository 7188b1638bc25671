import { isDigest, isTag } from './image-reference.ts';

const prefix = 'operator.technomad.dev/';
const maxLength = 253;

/** The annotations with which users act on a policy, using their own rights on it. */
export const actionAnnotations = {
  approve: `${prefix}approve`,
  rollbackTo: `${prefix}rollback-to`,
  release: `${prefix}release`,
  requestedAt: `${prefix}requested-at`,
} as const;

/** The annotation with the author of an API request: `approve 1.4.2@sha256:… ada@example.com`. The chart's admission policy permits only one's own name. */
export const requestedByAnnotation = `${prefix}requested-by`;

/** The value of the annotation requested-by. */
export function formatRequest(action: ActionName, value: string, user: string): string {
  return `${action} ${value} ${user}`;
}

/**
 * The action that was requested last through the API, if its annotation still has the requested value. Users also write annotations directly. The value is compared
 * as it is written, like the admission policy does: the end of a value that was shortened or trimmed would be taken for a part of the user's name.
 */
export function readRequest(annotations: Readonly<Record<string, unknown>>): RequestedAction | undefined {
  const text = annotations[requestedByAnnotation];
  if (typeof text !== 'string') return undefined;
  for (const [action, key] of Object.entries(actionKeys)) {
    const value = annotations[actionAnnotations[key]];
    if (typeof value !== 'string' || value === '') continue;
    const start = `${action} ${value} `;
    if (text.startsWith(start) && text.length > start.length)
      return { action: action as ActionName, user: text.slice(start.length, start.length + maxLength) };
  }
  return undefined;
}

/** The names of the commands, and the annotations that they write. */
const actionKeys = { approve: 'approve', rollback: 'rollbackTo', release: 'release', check: 'requestedAt' } as const;
export type ActionName = keyof typeof actionKeys;

/** An action of a policy, and who requested it. */
export interface RequestedAction {
  readonly action: ActionName;
  readonly user: string;
}

/** The requests of users to a policy: the values of the annotations, as written. */
export interface PolicyActions {
  /** The image that may be applied: `TAG@sha256:…`. */
  readonly approve?: string;
  /** The image to roll back to: `TAG` or `previous`. Text after a space is ignored, so that the same rollback can be requested twice. */
  readonly rollbackTo?: string;
  /** The time up to which holds are released. */
  readonly release?: string;
  /** A request for a reconcile. Each new value is a new request. */
  readonly requestedAt?: string;
}

/** Reads the annotations of a policy. Empty ones are no requests. */
export function readActions(annotations: Readonly<Record<string, unknown>>): PolicyActions {
  const entries = Object.entries(actionAnnotations).map(([action, annotation]): [string, unknown] => [action, annotations[annotation]]);
  return Object.fromEntries(
    entries.flatMap(([action, value]) =>
      typeof value === 'string' && value.trim() !== '' ? [[action, value.trim().slice(0, maxLength)]] : [],
    ),
  );
}

/** Whether two policies have the same requests. */
export function sameActions(a: PolicyActions = {}, b: PolicyActions = {}): boolean {
  return Object.keys(actionAnnotations).every((key) => a[key as keyof PolicyActions] === b[key as keyof PolicyActions]);
}

/** The image that an approval names; undefined if it is not `TAG@DIGEST`. */
export function parseApproval(value: string | undefined): { readonly tag: string; readonly digest: string } | undefined {
  const [, tag = '', digest = ''] = /^([^@]+)@(.+)$/.exec(value ?? '') ?? [];
  return isTag(tag) && isDigest(digest) ? { tag, digest } : undefined;
}

/** Whether exactly this image is approved. */
export function isApproved({ approve }: PolicyActions = {}, { tag, digest }: { readonly tag: string; readonly digest: string }): boolean {
  const approved = parseApproval(approve);
  return approved?.tag === tag && approved.digest === digest;
}

/** The time of a release; undefined if the value is not a time. */
export function releaseTime({ release }: PolicyActions = {}): Date | undefined {
  if (release === undefined || !/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.test(release)) return undefined;
  const time = new Date(release);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** The requested rollback: `previous` or a tag; undefined if the value has neither. */
export function parseRollback(value: string | undefined): string | undefined {
  const [tag = ''] = (value ?? '').split(' ');
  return isTag(tag) ? tag : undefined;
}
