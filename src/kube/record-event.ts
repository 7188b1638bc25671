import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../async/deadline.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { listPath } from './objects.ts';

/** Writes Kubernetes Events in the background: nothing ever waits for one, and none is worth failing for. */
export interface EventRecorder {
  record(event: EventRecord): void;
  /** Resolves when all is written, or after the deadline; never rejects. */
  flush(deadlineMs: number): Promise<void>;
}

/** Who records, and who hears of what could not be written. */
export interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly component: string;
  /** Which replica, for example the pod's name. */
  readonly instance: string;
  /** One Event that was not written, and why. Must not throw. */
  readonly onError?: (error: unknown) => void;
  readonly now?: () => Date;
  /** Writes nothing before nothing was recorded for so long, or the first one is that old; without it, at once. */
  readonly lull?: { readonly quietMs: number; readonly atMostMs: number };
}

const maxWaiting = 5_000;
const concurrency = 4;
const retryPauseMs = 200;

/**
 * The queue holds 5,000 Events and drops the oldest; each is tried twice. An Event costs the API server as much as a patch: after a burst of pushes they
 * come when the workloads are changed.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, component, instance, onError, now = () => new Date(), lull } = options;
  const waiting: Record<string, unknown>[] = [];
  const workers = new Set<Promise<void>>();
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
      // The first try had arrived after all.
      if (!isKubeError(error, 409)) throw error;
    }
  };
  const postTwice = async (event: Record<string, unknown>): Promise<void> => {
    try {
      await post(event);
    } catch {
      // Unreferenced: a process that has nothing else to do may end.
      await delay(retryPauseMs, undefined, { ref: false });
      await post(event);
    }
  };
  const work = async (): Promise<void> => {
    for (let event = waiting.shift(); event; event = waiting.shift()) {
      try {
        await postTwice(event);
      } catch (error) {
        onError?.(error);
      }
    }
  };

  const start = () => {
    clearTimeout(quiet);
    clearTimeout(patience);
    quiet = patience = undefined;
    while (workers.size < concurrency && waiting.length > 0) {
      const worker = work().finally(() => workers.delete(worker));
      workers.add(worker);
    }
  };
  const startLater = ({ quietMs, atMostMs }: NonNullable<EventRecorderOptions['lull']>) => {
    quiet = quiet?.refresh() ?? setTimeout(start, quietMs);
    patience ??= setTimeout(start, atMostMs);
  };

  return {
    record(event) {
      waiting.push(buildEvent(event, { component, instance, id: randomUUID().slice(0, 18).replaceAll('-', ''), at: now() }));
      if (waiting.length > maxWaiting) {
        waiting.shift();
        onError?.(new Error(`more than ${maxWaiting} Events wait to be written: the oldest is dropped`));
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

/** The object that an Event is about. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion?: string;
}

/** What happened, for the people who run `kubectl describe`. */
export interface EventRecord {
  readonly regarding: EventSubject;
  readonly type: 'Normal' | 'Warning';
  /** UpperCamelCase, stable. */
  readonly reason: string;
  /** What was being done, UpperCamelCase. */
  readonly action: string;
  readonly message: string;
}

// Limits of events.k8s.io/v1 validation, in bytes.
const maxNoteBytes = 1024;
const maxWordBytes = 128;

/** The `events.k8s.io/v1` Event of a record; `id` makes its name unique. */
export function buildEvent(
  record: EventRecord,
  source: { component: string; instance: string; id: string; at: Date },
): Record<string, unknown> {
  const { regarding, type, reason, action, message } = record;
  // Cluster-scoped subjects have their Events in "default".
  const namespace = regarding.namespace || 'default';
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace, name: `${shortenName(regarding.name)}.${source.id}` },
    // A MicroTime has exactly six digits.
    eventTime: source.at.toISOString().replace('Z', '000Z'),
    regarding,
    type,
    reason: cutToBytes(reason, maxWordBytes),
    action: cutToBytes(action, maxWordBytes),
    note: cutToBytes(message, maxNoteBytes),
    reportingController: source.component,
    reportingInstance: cutToBytes(source.instance, maxWordBytes),
  };
}

/** Leaves room for the id; no part of a name may end with a dash. */
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
