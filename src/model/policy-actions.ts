import { isDigest, isTag } from './image-reference.ts';

const prefix = 'operator.technomad.dev/';

/** Annotations with which users act on a policy, with their own rights on it. */
export const actionAnnotations = {
  approve: `${prefix}approve`,
  rollbackTo: `${prefix}rollback-to`,
  release: `${prefix}release`,
  requestedAt: `${prefix}requested-at`,
} as const;

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

const maxLength = 253;

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
