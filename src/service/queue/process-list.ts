/** Lists the running processes of the service in Redis: their roles and versions. A process without Redis (the roles convert and web alone) is not listed. */
import { parseJson } from '../../core/model/untyped.ts';
import { z } from 'zod';
import { backoffMs, requestBackoff } from '../../core/async/backoff.ts';
import { repeat, type Repetition } from '../../core/async/repeat.ts';
import { runTogether } from './commands.ts';
import type { RedisConnection } from './connection.ts';

const listedProcess = z.object({
  name: z.string().min(1).max(253),
  version: z.string().max(64),
  roles: z.array(z.string().max(16)).max(8),
  startedAt: z.iso.datetime(),
});

/** A running process. `name`: its host, which is the name of its pod. */
export type ListedProcess = Readonly<z.infer<typeof listedProcess>>;

/** How long a process is listed after it last wrote. */
const lifeMs = 90_000;
const everyMs = lifeMs / 3;
const maxListed = 200;

const pauseMs = (failures: number) => backoffMs(failures, Math.random, requestBackoff);

/** Writes a process into the list repeatedly until it is stopped, and then removes it. */
export function publishProcess(redis: RedisConnection, prefix: string, process: ListedProcess): Pick<Repetition, 'tried' | 'stop'> {
  const text = JSON.stringify(process);
  const key = keyOf(prefix);
  const write = async () => {
    const now = Date.now();
    await runTogether(
      redis,
      [key],
      [
        ['ZADD', key, now + lifeMs, text],
        ['ZREMRANGEBYSCORE', key, '-inf', now],
        ['ZREMRANGEBYRANK', key, 0, -maxListed - 1],
        ['PEXPIRE', key, lifeMs],
      ],
    );
  };
  // Failed writes are ignored here, because the health of Redis is reported elsewhere.
  const writing = repeat(write, { everyMs, backoffMs: pauseMs, onProblem: () => undefined });
  return {
    tried: writing.tried,
    async stop() {
      await writing.stop();
      await redis.zrem(key, text).catch(() => undefined);
    },
  };
}

/** Reads the list, sorted by name. What cannot be read is left out, because anybody with write access to Redis may have written it. */
export async function readProcesses(redis: RedisConnection, prefix: string, now: number): Promise<readonly ListedProcess[]> {
  const texts = await redis.zrangebyscore(keyOf(prefix), now, '+inf', 'LIMIT', 0, maxListed);
  return texts.flatMap((text) => listedProcess.safeParse(parseJson(text)).data ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function keyOf(prefix: string): string {
  return `${prefix}:processes`;
}
