/** Records when each receiver last answered with each status, shared by all replicas. No push waits for these writes. */
import { runTogether } from './commands.ts';
import type { RedisConnection } from './connection.ts';

export interface DeliveryTimes {
  /** Notes an answer, which is written within seconds. Returns before that, and never throws. */
  note(receiver: string, status: number): void;
  /** Writes the times that are noted, and stops. */
  stop(): Promise<void>;
}

export interface DeliveryTimesOptions {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly now: () => number;
  readonly flushMs?: number;
}

const lifeMs = 30 * 24 * 3_600_000;

/**
 * Creates the times in Redis, under the queue's prefix (one Cluster slot). They are written every few seconds, however many deliveries anybody sends. Times
 * that Redis does not accept are dropped.
 */
export function createDeliveryTimes({ redis, prefix, now, flushMs = 5_000 }: DeliveryTimesOptions): DeliveryTimes {
  let noted = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (noted.size === 0) return;
    const fields = [...noted].flat();
    noted = new Map();
    const key = keyOf(prefix);
    writing = runTogether(
      redis,
      [key],
      [
        ['HSET', key, ...fields],
        ['PEXPIRE', key, lifeMs],
      ],
    ).catch(() => undefined);
  };
  return {
    note(receiver, status) {
      noted.set(`${receiver} ${status}`, now());
      timer ??= setTimeout(flush, flushMs).unref();
    },
    async stop() {
      flush();
      await writing;
    },
  };
}

/** Reads when deliveries were answered in the last 30 days: times in ms since 1970, by receiver and status. */
export async function readDeliveryTimes(
  redis: RedisConnection,
  prefix: string,
  now: number,
): Promise<ReadonlyMap<string, ReadonlyMap<number, number>>> {
  const times = new Map<string, Map<number, number>>();
  for (const [field, value] of Object.entries(await redis.hgetall(keyOf(prefix)))) {
    const [receiver = '', status] = field.split(' ');
    const at = Number(value);
    // Times that no delivery can have are left out, because anybody with write access to Redis may have written them.
    if (!Number.isInteger(Number(status)) || !(Math.abs(now - at) < lifeMs)) continue;
    const ofReceiver = times.get(receiver) ?? new Map<number, number>();
    times.set(receiver, ofReceiver.set(Number(status), at));
  }
  return times;
}

function keyOf(prefix: string): string {
  return `${prefix}:deliveries`;
}
