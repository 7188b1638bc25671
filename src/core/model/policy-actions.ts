import { isDigest, isTag } from './image-reference.ts';

const prefix = 'operator.technomad.dev/';
const maxLength = 253;

/** Annotations with which users act on a policy, with their own rights on it. */
export const actionAnnotations = {
  approve: `${prefix}approve`,
  rollbackTo: `${prefix}rollback-to`,
  release: `${prefix}release`,
  requestedAt: `${prefix}requested-at`,
} as const;

/** Who requested an action through the API: `approve 1.4.2@sha256:… ada@example.com`. The admission policy of the chart lets nobody write another name than his own. */
export const requestedByAnnotation = `${prefix}requested-by`;

/** The value of that annotation. */
export function formatRequest(action: ActionName, value: string, user: string): string {
  return `${action} ${value} ${user}`;
}

/** The action that was requested last, if it still is as it was requested: users write annotations without that one as well. */
export function readRequest(annotations: Readonly<Record<string, unknown>>, actions: PolicyActions): RequestedAction | undefined {
  const text = annotations[requestedByAnnotation];
  if (typeof text !== 'string') return undefined;
  for (const [action, key] of Object.entries(actionKeys)) {
    const start = `${action} ${actions[key] ?? ''} `;
    const isSame = actions[key] !== undefined && text.startsWith(start) && text.length > start.length;
    if (isSame) return { action: action as ActionName, user: text.slice(start.length, start.length + maxLength) };
  }
  return undefined;
}

/** The words of the commands, and the annotations that they write. */
const actionKeys = { approve: 'approve', rollback: 'rollbackTo', release: 'release', check: 'requestedAt' } as const;
export type ActionName = keyof typeof actionKeys;

/** Who requested an action of a policy. */
export interface RequestedAction {
  readonly action: ActionName;
  readonly user: string;
}

/** What users requested of a policy: the values of the annotations, as written. */
export interface PolicyActions {
  /** `TAG@sha256:…`: the image that may be applied. */
  readonly approve?: string;
  /** `TAG` or `previous`; text after a space is ignored, so that the same rollback can be requested twice. */
  readonly rollbackTo?: string;
  /** The time up to which holds are released. */
  readonly release?: string;
  /** Any new value requests a reconcile now. */
  readonly requestedAt?: string;
}

/** Reads the annotations of a policy; empty ones request nothing. */
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

/** Whether this very image is approved. */
export function isApproved({ approve }: PolicyActions = {}, { tag, digest }: { readonly tag: string; readonly digest: string }): boolean {
  const approved = parseApproval(approve);
  return approved?.tag === tag && approved.digest === digest;
}

/** The time of a release; undefined if it is not a time. */
export function releaseTime({ release }: PolicyActions = {}): Date | undefined {
  if (release === undefined || !/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.test(release)) return undefined;
  const time = new Date(release);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** `previous`, or the tag that a rollback names; undefined if it names none. */
export function parseRollback(value: string | undefined): string | undefined {
  const [tag = ''] = (value ?? '').split(' ');
  return isTag(tag) ? tag : undefined;
}
