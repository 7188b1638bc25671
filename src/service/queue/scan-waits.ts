/** The pushes that wait for a scan of their image, and the scans that have ended, in Redis: a scan and its push come in any order, to any replica. */
import { z } from 'zod';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { PushEvent } from '../../core/model/push-event.ts';
import { scanWaitMs, startedByScan, wasScanned, type ScanEvent } from '../../core/model/scan-event.ts';
import { runTogether, type Command } from './commands.ts';
import { openQueue, type QueueAccess } from './producer.ts';

export interface ScanWaits {
  /** Lets scans find pushes that are stored, and starts those whose scan has ended before. */
  follow(pushes: readonly PushEvent[]): Promise<void>;
  /** Notes a scan, and starts the pushes that wait for it; returns how many. */
  end(scan: ScanEvent): Promise<number>;
}

/** Of one repository at one receiver: that is how many are remembered. */
const maxRemembered = 1_000;
/** Longer than any wait. */
const keyMs = scanWaitMs + 60_000;

const names = { tag: z.string().exactOptional(), digest: z.string().exactOptional() };
const waitingSchema = z.object({ ...names, id: z.string(), tag: z.string() });
const scanSchema = z.object(names);

/** The waits of the queue `push`. */
export function createScanWaits(access: QueueAccess, now: () => number = Date.now): ScanWaits {
  const { redis, prefix } = access;
  const queue = openQueue('push', access);
  const keysOf = ({ receiver, repository }: Pick<ScanEvent, 'receiver' | 'repository'>) => {
    const place = `${receiver}:${formatRepository(repository)}`;
    return { waiting: `${prefix}:scans:waiting:${place}`, ended: `${prefix}:scans:ended:${place}` };
  };
  /** Adds a member to a sorted set of times, from which old ones are removed. */
  const remember = (key: string, member: object, at: number): Command[] => [
    ['ZREMRANGEBYSCORE', key, '-inf', now() - scanWaitMs],
    ['ZADD', key, at, JSON.stringify(member)],
    ['ZREMRANGEBYRANK', key, 0, -maxRemembered - 1],
    ['PEXPIRE', key, keyMs],
  ];
  const recent = (key: string): Command => ['ZRANGEBYSCORE', key, now() - scanWaitMs, '+inf'];
  const start = async (id: string): Promise<boolean> => {
    // BullMQ keeps keys of its own beside the jobs.
    const job = await queue.getJob(id).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return undefined;
      throw error;
    });
    if (job === undefined || !(await job.isDelayed())) return false;
    return job.promote().then(
      () => true,
      async (error: unknown) => {
        // Another replica has started it, or its time has come.
        if (await job.isDelayed()) throw error;
        return false;
      },
    );
  };
  return {
    // A push is noted before scans are read, and a scan before pushes are read: of two at the same moment, one finds the other.
    async follow(pushes) {
      for (const push of pushes) {
        const { id, tag, digest } = push;
        const { waiting, ended } = keysOf(push);
        const member = { id, tag, ...(digest !== undefined && { digest }) };
        const known = await runTogether(redis, [waiting, ended], [...remember(waiting, member, now()), recent(ended)]);
        if (wasScanned(push, readMembers(scanSchema, known))) await start(id);
      }
    },
    async end(scan) {
      const { waiting, ended } = keysOf(scan);
      const { tag, digest } = scan;
      const member = { ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
      const known = await runTogether(redis, [waiting, ended], [...remember(ended, member, now()), recent(waiting)]);
      let started = 0;
      for (const push of startedByScan(readMembers(waitingSchema, known), scan)) {
        if (await start(push.id)) started++;
        await redis.zrem(waiting, JSON.stringify(push));
      }
      return started;
    },
  };
}

/** Anybody with write access to Redis may have written them: what cannot be read is left out. */
function readMembers<T>(schema: z.ZodType<T>, members: unknown): T[] {
  return (Array.isArray(members) ? members : []).flatMap((text) => {
    try {
      return schema.safeParse(JSON.parse(String(text))).data ?? [];
    } catch {
      return [];
    }
  });
}
