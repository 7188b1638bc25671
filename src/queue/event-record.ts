import { z } from 'zod';
import type { PushEvent } from '../model/push-event.ts';
import type { PolicyResult } from './event-log.ts';
import { pushSchema } from './read-job.ts';

/**
 * The state of an event. matched: its policies are known; unwatched: it has none; queued, working, retrying, failed: no worker has recorded its policies yet,
 * and this is the state of its job.
 */
export type EventState = 'matched' | 'unwatched' | 'queued' | 'working' | 'retrying' | 'failed';

export interface EventRecord {
  readonly event: PushEvent;
  readonly state: EventState;
  /** The last error of an event that is retried or failed before its policies were known. */
  readonly why?: string;
  /** By policy (`namespace/name`); undefined while the policy has no result yet. */
  readonly results: ReadonlyMap<string, PolicyResult | undefined>;
}

const names = z.array(z.string().max(512)).max(100_000);
const resultShape = z.looseObject({
  kind: z.enum(['updated', 'unchanged', 'ignored', 'stalled', 'suspended', 'retrying', 'waiting', 'failed']),
  at: z.string().max(40),
  afterMs: z.number(),
});

/** Reads the hash of an event; undefined where there is none, it cannot be read, or it holds only results so far. */
export function readHash(hash: Readonly<Record<string, string>>): EventRecord | undefined {
  const { registry, repository, outcome, policies, ...fields } = hash;
  const event = pushSchema.safeParse({ ...fields, repository: { registry, path: repository } });
  if (!event.success) return undefined;
  const known = names.safeParse(parseJson(policies)).data ?? [];
  const results = new Map(known.map((name) => [name, readResult(hash[`policy:${name}`])]));
  return { event: event.data, state: outcome === 'unwatched' ? 'unwatched' : 'matched', results };
}

function readResult(text: string | undefined): PolicyResult | undefined {
  const result = parseJson(text);
  return resultShape.safeParse(result).success ? (result as PolicyResult) : undefined;
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return undefined;
  }
}

/** An event that exists only in the queue; undefined where its job cannot be read. */
export function readJob(data: unknown, state: EventState, why: string | undefined): EventRecord | undefined {
  const event = pushSchema.safeParse(data);
  return event.success ? { event: event.data, state, results: new Map(), ...(why && { why }) } : undefined;
}
