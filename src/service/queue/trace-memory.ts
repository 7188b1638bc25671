/** Stores the trace of a policy's newest change, so that later checks of its rollout continue it in any process. Used only if traces are on. */
import type { RedisConnection } from './connection.ts';

/** A change and its trace. */
export interface TracedChange {
  readonly traceparent: string;
  /** When the change was made, in ms since 1970. */
  readonly at: number;
}

export interface TraceMemory {
  remember(policyUid: string, change: TracedChange): Promise<void>;
  recall(policyUid: string): Promise<TracedChange | undefined>;
}

const lifeSeconds = 24 * 3_600;

/** Whether a text is a W3C `traceparent`; any other text names no trace. */
function isTraceparent(text: string): boolean {
  return /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text);
}

/** Creates the store in Redis, under the queue's prefix. */
export function createTraceMemory(redis: RedisConnection, prefix: string): TraceMemory {
  const keyOf = (policyUid: string) => `${prefix}:trace:${policyUid}`;
  return {
    async remember(policyUid, { traceparent, at }) {
      await redis.set(keyOf(policyUid), `${traceparent} ${at}`, 'EX', lifeSeconds);
    },
    async recall(policyUid) {
      const [traceparent, at] = (await redis.get(keyOf(policyUid)))?.split(' ') ?? [];
      return traceparent === undefined || at === undefined || !isTraceparent(traceparent) ? undefined : { traceparent, at: Number(at) };
    },
  };
}
