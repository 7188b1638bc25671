/** Records in Redis which pushes wait for a scan of their image, and which scans have ended. A scan and its push come in any order, to any replica. */
import { parseJson } from '../../core/model/untyped.ts';
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { PushEvent } from '../../core/model/push-event.ts';
import { scanWaitMs, startedByScan, wasScanned, type ScanEvent } from '../../core/model/scan-event.ts';
import { runTogether, type Command } from './commands.ts';
import { openQueue, type PushQueue, type QueueAccess } from './producer.ts';

export interface ScanWaits {
  /** Records pushes that are stored so that scans find them, and starts those whose scan has already ended. */
  follow(pushes: readonly PushEvent[]): Promise<void>;
  /** Notes a scan, and starts the pushes that wait for it; returns how many. */
  end(scan: ScanEvent): Promise<number>;
}

/** How many pushes and scans of one repository at one receiver are remembered. */
const maxRemembered = 1_000;
/** How long the keys are kept, which is longer than any push waits. */
const keyMs = scanWaitMs + 60_000;

const names = { tag: z.string().exactOptional(), digest: z.string().exactOptional() };
const waitingSchema = z.object({ ...names, id: z.string(), tag: z.string() });
const scanSchema = z.object(names);

/** The waits of the queue `push`. */
export function createScanWaits(access: QueueAccess): ScanWaits {
  const { redis, prefix } = access;
  const queue = openQueue('push', access);
  const keysOf = ({ receiver, repository }: Pick<ScanEvent, 'receiver' | 'repository'>) => {
    const place = `${receiver}:${formatRepository(repository)}`;
    return { waiting: `${prefix}:scans:waiting:${place}`, ended: `${prefix}:scans:ended:${place}` };
  };
  const start = async (id: string): Promise<boolean> => {
    // A key that is no job is skipped, because BullMQ keeps keys of its own beside the jobs.
    const job = await queue.getJob(id).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return undefined;
      throw error;
    });
    if (job === undefined || !(await job.isDelayed())) return false;
    return job.promote().then(
      () => true,
      async (error: unknown) => {
        // A job that is no longer delayed was started by another replica, or its time has come.
        if (await job.isDelayed()) throw error;
        return false;
      },
    );
  };
  return {
    // A push is recorded before scans are read, and a scan is recorded before pushes are read. If both happen at the same moment, one of them finds the other.
    async follow(pushes) {
      for (const push of pushes) {
        const { id, tag, digest } = push;
        const { waiting, ended } = keysOf(push);
        const member = { id, tag, ...defined({ digest }) };
        const known = await runTogether(redis, [waiting, ended], [...remember(waiting, member), recent(ended)]);
        if (wasScanned(push, readMembers(scanSchema, known))) await start(id);
      }
    },
    async end(scan) {
      const { waiting, ended } = keysOf(scan);
      const { tag, digest } = scan;
      const member = { ...defined({ tag, digest }) };
      const known = await runTogether(redis, [waiting, ended], [...remember(ended, member), recent(waiting)]);
      let started = 0;
      for (const push of startedByScan(readMembers(waitingSchema, known), scan)) {
        if (await start(push.id)) started++;
        await redis.zrem(waiting, JSON.stringify(push));
      }
      return started;
    },
  };
}

/** Adds a member to a sorted set of times, from which old ones are removed. */
function remember(key: string, member: object): Command[] {
  const now = Date.now();
  return [
    ['ZREMRANGEBYSCORE', key, '-inf', now - scanWaitMs],
    ['ZADD', key, now, JSON.stringify(member)],
    ['ZREMRANGEBYRANK', key, 0, -maxRemembered - 1],
    ['PEXPIRE', key, keyMs],
  ];
}

/** Reads the members of a sorted set of times that are not too old. */
function recent(key: string): Command {
  return ['ZRANGEBYSCORE', key, Date.now() - scanWaitMs, '+inf'];
}

/** Creates the function that stores pushes with `store`, and then records those that wait for a scan. `onError`: called if they cannot be recorded. */
export function createFollowedStore(
  store: PushQueue['add'],
  { follow }: Pick<ScanWaits, 'follow'>,
  onError: (error: Error) => void,
): PushQueue['add'] {
  return async (events) => {
    const stored = await store(events);
    const waiting = stored.filter(({ waitsUntil }) => waitsUntil !== undefined);
    // An error here does not fail the delivery: the pushes are stored, and at worst start when they have waited for long enough.
    await follow(waiting).catch(onError);
    return stored;
  };
}

/** Reads the members of a sorted set. Those that cannot be read are left out, because anybody with write access to Redis may have written them. */
function readMembers<T>(schema: z.ZodType<T>, members: unknown): T[] {
  return (Array.isArray(members) ? members : []).flatMap((text) => schema.safeParse(parseJson(text)).data ?? []);
}
