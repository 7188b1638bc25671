import type { ObjectEvent } from '../../core/model/object-event.ts';
import { hash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { within } from '../../core/async/deadline.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { listPath } from './objects.ts';
import { outsideSpans } from '../telemetry/tracing.ts';

/** Writes Kubernetes Events in the background. No other work waits for an Event or fails because of one. */
export interface EventRecorder {
  record(event: ObjectEvent): void;
  /** Resolves when all Events are written, or after the deadline; never rejects. */
  flush(deadlineMs: number): Promise<void>;
}

/** The source of the Events, and the callback for Events that could not be written. */
export interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly component: string;
  /** The name of the replica, for example the name of its pod. */
  readonly instance: string;
  /** Called for each Event that was not written, with the error. Must not throw. */
  readonly onError?: (error: unknown) => void;
  readonly now?: () => Date;
  /** Delays writing until nothing was recorded for `quietMs`, or the first Event is `atMostMs` old. Without it, Events are written immediately. */
  readonly lull?: { readonly quietMs: number; readonly atMostMs: number };
}

const maxWaiting = 5_000;
const concurrency = 4;
const retryPauseMs = 200;
/** The interval of hourly Events. API servers keep Events for an hour by default, so one an hour is always visible. */
const hourMs = 3_600_000;
const maxRemembered = 10_000;
const idLength = 16;

/**
 * Creates a recorder. Its queue holds 5,000 Events and drops the oldest; each is tried twice. An Event costs the API server as much as a patch, so in a burst
 * of pushes, Events are written after the workloads are changed. Waiting Events of the same object and reason become one, with a count.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, component, instance, onError, now = () => new Date(), lull } = options;
  /** The waiting Events, by the key by which they are aggregated. */
  const waiting = new Map<string, WaitingEvent>();
  const workers = new Set<Promise<void>>();
  /** The times when hourly Events were recorded last, by subject and reason. */
  const recorded = new BoundedMap<string, number>(maxRemembered);
  let quiet: NodeJS.Timeout | undefined;
  let patience: NodeJS.Timeout | undefined;

  const post = async (event: Record<string, unknown>): Promise<void> => {
    const { namespace } = event['metadata'] as { namespace: string };
    try {
      await client.request({
        method: 'POST',
        path: listPath({ apiVersion: 'events.k8s.io/v1', resource: 'events' }, namespace),
        body: event,
      });
    } catch (error) {
      // With 409, the first try had succeeded after all, or another replica has recorded the same Event in this hour.
      if (!isKubeError(error, 409)) throw error;
    }
  };
  const postTwice = async (event: Record<string, unknown>): Promise<void> => {
    try {
      await post(event);
    } catch {
      // The timer is unreferenced, so that it does not keep the process alive.
      await delay(retryPauseMs, undefined, { ref: false });
      await post(event);
    }
  };
  const work = async (): Promise<void> => {
    for (let next = takeFirst(waiting); next; next = takeFirst(waiting)) {
      try {
        await postTwice(buildEvent(next.record, { component, instance, ...next }));
      } catch (error) {
        onError?.(error);
      }
    }
  };

  /** The id of an hourly Event, which is the same in all replicas during one hour of the clock; undefined if this one has recorded it within the last hour. */
  const hourlyId = ({ regarding, reason }: ObjectEvent): string | undefined => {
    const at = now().getTime();
    const key = `${regarding.uid} ${reason}`;
    const last = recorded.get(key);
    if (last !== undefined && Math.abs(at - last) < hourMs) return undefined;
    recorded.set(key, at);
    return hash('sha256', `${key} ${Math.floor(at / hourMs)}`).slice(0, idLength);
  };

  const start = () => {
    clearTimeout(quiet);
    clearTimeout(patience);
    quiet = patience = undefined;
    while (workers.size < concurrency && waiting.size > 0) {
      // The Events of several jobs are written together.
      const worker = outsideSpans(work).finally(() => workers.delete(worker));
      workers.add(worker);
    }
  };
  const startLater = ({ quietMs, atMostMs }: NonNullable<EventRecorderOptions['lull']>) => {
    quiet = quiet?.refresh() ?? setTimeout(start, quietMs);
    patience ??= setTimeout(start, atMostMs);
  };

  return {
    record(event) {
      const id = event.atMostHourly === true ? hourlyId(event) : randomUUID().replaceAll('-', '').slice(0, idLength);
      if (id === undefined) return;
      const key = [event.regarding.uid, event.type, event.reason, event.action, event.atMostHourly === true].join(' ');
      const before = waiting.get(key);
      waiting.set(key, before === undefined ? { record: event, id, at: now(), count: 1, lastAt: now() } : aggregate(before, event, now()));
      if (waiting.size > maxWaiting) {
        takeFirst(waiting);
        onError?.(new Error(`more than ${maxWaiting} Events are queued: the oldest is dropped`));
      }
      if (lull === undefined) start();
      else startLater(lull);
    },
    async flush(deadlineMs) {
      start();
      await within(deadlineMs, Promise.all(workers));
    },
  };
}

/** A waiting Event, in which repetitions are aggregated. */
interface WaitingEvent {
  readonly record: ObjectEvent;
  /** The part of the Event's name that makes it unique. */
  readonly id: string;
  readonly at: Date;
  readonly count: number;
  readonly lastAt: Date;
}

/** Adds a repetition to a waiting Event. It has both messages if they fit, or else only the newer one. */
function aggregate({ record, id, at, count }: WaitingEvent, { message }: ObjectEvent, lastAt: Date): WaitingEvent {
  const both = record.message === message ? message : `${record.message}; ${message}`;
  const isShort = Buffer.byteLength(both) <= maxNoteBytes;
  return { record: { ...record, message: isShort ? both : message }, id, at, count: count + 1, lastAt };
}

function takeFirst<K, V>(map: Map<K, V>): V | undefined {
  for (const [key, value] of map) {
    map.delete(key);
    return value;
  }
  return undefined;
}

// The limits of the events.k8s.io/v1 validation, in bytes.
const maxNoteBytes = 1024;
const maxWordBytes = 128;

/** The `events.k8s.io/v1` Event of a record. */
export function buildEvent(
  record: ObjectEvent,
  source: Omit<WaitingEvent, 'record'> & { readonly component: string; readonly instance: string },
): Record<string, unknown> {
  const { regarding, type, reason, action, message } = record;
  // Events of cluster-scoped subjects are in the namespace "default".
  const namespace = regarding.namespace || 'default';
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace, name: `${shortenName(regarding.name)}.${source.id}` },
    eventTime: toMicroTime(source.at),
    ...(source.count > 1 && { series: { count: source.count, lastObservedTime: toMicroTime(source.lastAt) } }),
    regarding,
    type,
    reason: cutToBytes(reason, maxWordBytes),
    action: cutToBytes(action, maxWordBytes),
    note: cutToBytes(message, maxNoteBytes),
    reportingController: source.component,
    reportingInstance: cutToBytes(source.instance, maxWordBytes),
  };
}

/** Formats a MicroTime, which has exactly six digits. */
function toMicroTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}

/** Shortens a name to leave room for the id. No part of a name may end with a dash. */
function shortenName(name: string): string {
  return name.slice(0, 200).replace(/[-.]+$/, '');
}

/** The text, or as much of it as fits with an ellipsis, never cut inside a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  let end = maxBytes - Buffer.byteLength('…');
  const bytes = Buffer.from(text);
  while (end > 0 && ((bytes[end] ?? 0) & 0b1100_0000) === 0b1000_0000) end -= 1;
  return `${bytes.subarray(0, end).toString('utf8')}…`;
}
