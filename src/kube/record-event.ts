import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { buildEvent, type EventRecord } from './build-event.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { listPath } from './resource-path.ts';

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
}

const maxWaiting = 1_000;
const concurrency = 4;
const retryPauseMs = 200;

/** The queue holds 1,000 Events and drops the oldest; each is tried twice. */
export function createEventRecorder({ client, component, instance, onError, now = () => new Date() }: EventRecorderOptions): EventRecorder {
  const waiting: Record<string, unknown>[] = [];
  const workers = new Set<Promise<void>>();

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

  return {
    record(event) {
      waiting.push(buildEvent(event, { component, instance, id: randomUUID().slice(0, 18).replaceAll('-', ''), at: now() }));
      if (waiting.length > maxWaiting) {
        waiting.shift();
        onError?.(new Error(`more than ${maxWaiting} Events wait to be written: the oldest is dropped`));
      }
      if (workers.size >= concurrency) return;
      const worker = work().finally(() => workers.delete(worker));
      workers.add(worker);
    },
    async flush(deadlineMs) {
      const deadline = new AbortController();
      await Promise.race([Promise.all(workers), delay(deadlineMs, undefined, { signal: deadline.signal }).catch(() => undefined)]);
      deadline.abort();
    },
  };
}
