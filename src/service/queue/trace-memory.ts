/** Stores the trace of a policy's newest change, so that later checks of its rollout continue it in any process. Used only if traces are on. */
import { currentSpan, type TracedChange } from '../telemetry/tracing.ts';
import type { QueueAccess } from './producer.ts';

export interface TraceMemory {
  /** Stores the trace of the current span in the background, as that of a change that is about to be made. Without a span, it does nothing. Never throws. */
  remember(policyUid: string): void;
  /** The newest change of a policy; undefined if it is not known (any more). Never rejects. */
  recall(policyUid: string): Promise<TracedChange | undefined>;
}

const lifeSeconds = 24 * 3_600;

/** Whether a text is a W3C `traceparent`; any other text names no trace. */
function isTraceparent(text: string): boolean {
  return /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text);
}

/** Creates the store in Redis, under the queue's prefix. `redis` must be a connection that fails fast, so that no job waits for a trace. */
export function createTraceMemory({ redis, prefix, onError }: QueueAccess): TraceMemory {
  const keyOf = (policyUid: string) => `${prefix}:trace:${policyUid}`;
  // The last stored trace. Several workloads are patched in one trace, which is stored once.
  let last = '';
  return {
    remember(policyUid) {
      const traceparent = currentSpan()?.traceparent;
      if (traceparent === undefined || last === `${policyUid} ${traceparent}`) return;
      last = `${policyUid} ${traceparent}`;
      redis.set(keyOf(policyUid), `${traceparent} ${Date.now()}`, 'EX', lifeSeconds).catch(onError);
    },
    async recall(policyUid) {
      // A single timeout is no outage, so the read is retried once.
      const read = () => redis.get(keyOf(policyUid));
      const stored = await read()
        .catch(read)
        .catch((error: Error) => {
          onError(error);
          return null;
        });
      const [traceparent, at] = stored?.split(' ') ?? [];
      return traceparent === undefined || at === undefined || !isTraceparent(traceparent) ? undefined : { traceparent, at: Number(at) };
    },
  };
}
