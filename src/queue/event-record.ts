import type { PushEvent } from '../core/push-event.ts';
import type { PolicyFate } from './event-log.ts';
import type { PushJob } from './jobs.ts';

/**
 * What is known of an event. matched: its policies are known · unwatched: there are none · queued, working, retrying, failed: no worker has told of
 * policies yet, and this is what the queue says.
 */
export type EventState = 'matched' | 'unwatched' | 'queued' | 'working' | 'retrying' | 'failed';

export interface EventRecord {
  readonly event: PushEvent;
  readonly state: EventState;
  /** What went wrong last, of events that are retried or failed before their policies were known. */
  readonly why?: string;
  /** By policy (`namespace/name`); undefined while it is not at an end there. */
  readonly fates: ReadonlyMap<string, PolicyFate | undefined>;
}

/** Reads the hash of an event; undefined where there is none, or only its fates are there yet. */
export function readHash(hash: Readonly<Record<string, string>>): EventRecord | undefined {
  const { id, receiver, provider, registry, repository, tag, digest, receivedAt, pushedAt, replayOf, outcome, policies } = hash;
  if (!id || !receiver || !provider || !registry || !repository || !tag || !receivedAt) return undefined;
  const event: PushEvent = {
    id,
    receiver,
    provider,
    repository: { registry, path: repository },
    tag,
    receivedAt,
    ...(digest !== undefined && { digest }),
    ...(pushedAt !== undefined && { pushedAt }),
    ...(replayOf !== undefined && { replayOf }),
  };
  const names = policies === undefined ? [] : (JSON.parse(policies) as string[]);
  const fateOf = (name: string): [string, PolicyFate | undefined] => {
    const text = hash[`policy:${name}`];
    return [name, text === undefined ? undefined : (JSON.parse(text) as PolicyFate)];
  };
  return { event, state: outcome === 'unwatched' ? 'unwatched' : 'matched', fates: new Map(names.map(fateOf)) };
}

/** An event that only the queue knows. */
export function readJob(
  { schema: _schema, traceparent: _traceparent, ...event }: PushJob,
  state: EventState,
  why: string | undefined,
): EventRecord {
  return { event, state, fates: new Map(), ...(why && { why }) };
}
