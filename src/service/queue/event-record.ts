/** The audit records in Redis: their keys, their shapes, and how they are read. */
import { parseJson } from '../../core/model/untyped.ts';
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { formatRepository, isDigest } from '../../core/model/image-reference.ts';
import { givenUpReasons, noticeKinds, type GivenUpNotice } from '../../core/model/notice.ts';
import type { PushEvent } from '../../core/model/push-event.ts';
import { ignoredReasons, type IgnoredReason, type Reason } from '../../core/model/reasons.ts';
import type { PolicyResult } from './event-log.ts';
import { pushSchema } from './read-job.ts';

/** How long a record is kept, in seconds. */
export const recordSeconds = 7 * 24 * 3_600;

/** The keys of the audit record: a hash for each event, and sorted sets of ids by time of receipt (ms). They share one prefix, which is one Cluster slot. */
export interface EventKeys {
  readonly hash: (id: string) => string;
  readonly byTime: string;
  /** The index of one repository, given as `registry/path`. */
  readonly byRepository: (repository: string) => string;
  readonly unwatched: string;
  /** The index of all that receivers ignored. */
  readonly ignored: string;
  /** The index of what one receiver ignored for one reason. */
  readonly ignoredOf: (receiver: string, reason: IgnoredReason) => string;
  /** The sorted set of registries, by the time of their last push that a policy watches. */
  readonly announcements: string;
}

/** The keys of the audit record under a prefix. */
export function eventKeys(prefix: string): EventKeys {
  return {
    hash: (id) => `${prefix}:event:${id}`,
    byTime: `${prefix}:events`,
    byRepository: (repository) => `${prefix}:events:repository:${repository}`,
    unwatched: `${prefix}:events:unwatched`,
    ignored: `${prefix}:events:ignored`,
    ignoredOf: (receiver, reason) => `${prefix}:events:ignored:${receiver}:${reason}`,
    announcements: `${prefix}:events:registries`,
  };
}

/**
 * The state of a push. matched: its policies are known; unwatched: it has none; queued, waiting (for the scan of its image), working, retrying, failed: no worker has recorded its policies yet,
 * and this is the state of its job.
 */
export type PushState = 'matched' | 'unwatched' | 'queued' | 'waiting' | 'working' | 'retrying' | 'failed';

/** The record of a push that was accepted. */
export interface PushRecord {
  readonly event: PushEvent;
  readonly state: PushState;
  /** The last error of a push that is retried or failed before its policies were known, or what the push waits for. */
  readonly why?: string;
  /** The reason why the push waits. */
  readonly reason?: Extract<Reason, 'WaitsForScan'>;
  /** The results by policy (`namespace/name`); undefined for a policy that has no result yet. */
  readonly results: ReadonlyMap<string, PolicyResult | undefined>;
  /** The policies whose credentials have read the push's repository. Only the authors of these policies may learn of the push. */
  readonly readers: ReadonlySet<string>;
  /** The notices about the push that were given up, by policy; undefined if there are none. */
  readonly givenUp?: ReadonlyMap<string, readonly GivenUpNotice[]>;
}

/** The field of an event's hash for the repository that a policy has read. */
export const readField = (policy: string) => `read:${policy}`;

/** The field of an event's hash for the digest that the registry has for the pushed tag, if another one was announced. */
export const otherDigestField = (policy: string) => `other:${policy}`;

/** How many given up notices are kept for each policy of a push. */
export const maxGivenUp = 10;

/** The fields of an event's hash for notices that were given up: a counter for each policy, and one field for each notice, which a repetition reuses. */
export const givenUpCount = (policy: string) => `notices:${policy}`;
export const givenUpField = (policy: string, { kind, target }: Pick<GivenUpNotice, 'kind' | 'target'>) =>
  `notice:${policy} ${kind} ${target}`;

/** Something that a receiver ignored, with the names that the sender gave. */
export interface IgnoredEvent {
  readonly id: string;
  readonly receiver: string;
  readonly provider: string;
  /** When the ignored event was last received, in RFC 3339. */
  readonly receivedAt: string;
  readonly reason: IgnoredReason;
  readonly message: string;
  readonly registry?: string;
  readonly repository?: string;
  readonly tag?: string;
  /** How often the ignored event was received. */
  readonly count: number;
}

/** The record of a push that a receiver ignored, for which there is no job. */
export interface IgnoredRecord {
  readonly event: IgnoredEvent;
  readonly state: 'ignored';
}

export type EventRecord = PushRecord | IgnoredRecord;

const names = z.array(z.string().max(512)).max(100_000);
/** The result of a push as stored. It has no other fields, so that writers to Redis cannot add those that the view of an event has from elsewhere. */
const resultShape = z.object({
  reason: z.string().exactOptional(),
  message: z.string().exactOptional(),
  tag: z.string().exactOptional(),
  digest: z.string().exactOptional(),
  changes: z.array(z.unknown()).exactOptional(),
  kind: z.enum(['updated', 'unchanged', 'ignored', 'stalled', 'suspended', 'retrying', 'waiting', 'failed']),
  at: z.string().max(40),
  afterMs: z.number().exactOptional(),
  isUnwatched: z.literal(true).exactOptional(),
  broughtBy: z.string().max(512).exactOptional(),
});
/** A text that a sender chose. It is shown on terminals, so its control characters are replaced. */
const text = z
  .string()
  .max(512)
  .transform((value) => value.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd'));
const givenUpSchema = z.object({
  target: text,
  kind: z.enum(noticeKinds),
  reason: z.enum(givenUpReasons),
  message: text.exactOptional(),
  at: z.string().max(40),
});
const ignoredSchema = pushSchema.pick({ id: true, receiver: true, provider: true, receivedAt: true }).extend({
  reason: z.enum(ignoredReasons),
  message: text,
  registry: text.exactOptional(),
  repository: text.exactOptional(),
  tag: text.exactOptional(),
  count: z.coerce.number().int().min(1),
});

/** Reads the hash of an event; undefined if it does not exist, is invalid, or contains only results so far. */
export function readHash(hash: Readonly<Record<string, string>>): EventRecord | undefined {
  const { registry, repository, outcome, policies, ...fields } = hash;
  if (outcome === 'ignored') {
    const { data: ignored } = ignoredSchema.safeParse(hash);
    return ignored && { event: ignored, state: 'ignored' };
  }
  const event = pushSchema.safeParse({ ...fields, repository: { registry, path: repository } });
  if (!event.success) return undefined;
  const known = names.safeParse(parseJson(policies)).data ?? [];
  const results = new Map(known.map((name) => [name, readResult(hash, name, event.data.receivedAt)]));
  const givenUp = readGivenUp(hash, known);
  const pushed = formatRepository(event.data.repository);
  return {
    event: event.data,
    state: outcome === 'unwatched' ? 'unwatched' : 'matched',
    results,
    // A policy is a reader only if it has read the pushed repository: it may have named another one by the time of its result.
    readers: new Set(known.filter((name) => hash[readField(name)] === pushed)),
    ...(givenUp.size > 0 && { givenUp }),
  };
}

function readGivenUp(hash: Readonly<Record<string, string>>, policies: readonly string[]): Map<string, GivenUpNotice[]> {
  const known = new Set(policies);
  const found = new Map<string, GivenUpNotice[]>();
  for (const [field, json] of Object.entries(hash)) {
    const [, policy = ''] = /^notice:(\S+) /.exec(field) ?? [];
    const notice = known.has(policy) ? givenUpSchema.safeParse(parseJson(json)).data : undefined;
    if (notice !== undefined) found.set(policy, [...(found.get(policy) ?? []), notice]);
  }
  for (const [policy, notices] of found) found.set(policy, notices.toSorted((a, b) => (a.at < b.at ? -1 : 1)).slice(0, maxGivenUp));
  return found;
}

function readResult(hash: Readonly<Record<string, string>>, policy: string, receivedAt: string): PolicyResult | undefined {
  const result = resultShape.safeParse(parseJson(hash[`policy:${policy}`]));
  if (!result.success) return undefined;
  const verifiedMs = Number(hash[`verified:${policy}`] ?? Number.NaN);
  const otherDigest = hash[otherDigestField(policy)];
  const afterMs = result.data.afterMs ?? Date.parse(result.data.at) - Date.parse(receivedAt);
  const others = { ...(Number.isFinite(verifiedMs) && { verifiedMs }), ...(isDigest(otherDigest ?? '') && defined({ otherDigest })) };
  return { ...(result.data as PolicyResult), afterMs, ...others };
}

/** The record of a push that exists only in the queue; undefined if the data of its job are invalid. */
export function readJob(data: unknown, state: PushState, why: string | undefined): PushRecord | undefined {
  const event = pushSchema.safeParse(data);
  if (!event.success) return undefined;
  const reason = state === 'waiting' ? ({ reason: 'WaitsForScan' } as const) : {};
  return { event: event.data, state, results: new Map(), readers: new Set(), ...reason, ...(why && { why }) };
}

/** Whether a record is about this repository (`registry/path`). For an ignored event without a registry, only the path is compared. */
export function isOfRepository(record: EventRecord, repository: string): boolean {
  if (record.state !== 'ignored') return formatRepository(record.event.repository) === repository;
  const { registry, repository: path } = record.event;
  if (registry !== undefined) return `${registry}/${path}` === repository;
  return path !== undefined && repository.slice(repository.indexOf('/') + 1) === path.toLowerCase();
}
