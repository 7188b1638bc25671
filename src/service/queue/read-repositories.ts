/**
 * Remembers which repositories have been read with which credentials, in Redis for all replicas. What a push announces is shown only to policies whose
 * credentials have read its repository.
 */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { accessKey, type ImageSource } from '../../core/model/image-source.ts';
import { hashId } from '../../core/model/push-event.ts';
import type { RedisConnection } from './connection.ts';

/** The repositories that credentials have read. Never rejects: what Redis does not accept is known here only, and what it does not answer is not read. */
export interface ReadRepositories {
  /** Records that the registry has shown the repository to these credentials. */
  remember(source: ImageSource): void;
  /** Records that the registry has refused these credentials. */
  forget(source: ImageSource): void;
  /** Whether these credentials have read the repository within a week, and have not been refused since. */
  has(source: ImageSource): Promise<boolean>;
}

export interface ReadRepositoriesOptions {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly now: () => number;
  /** The maximum number of entries in Redis; the oldest are removed. */
  readonly limit?: number;
}

/** How long a read is remembered in Redis: as long as records of pushes are kept. */
const lifeMs = 7 * 24 * 3_600_000;
/** How long this process uses what it has written or read without asking Redis. After that, it asks or writes again. */
const knownMs = 3_600_000;
const maxKnown = 50_000;
/** The maximum number of entries that are written at once. */
const maxWrite = 1_000;

/** Creates the memory, under the queue's prefix (one Cluster slot): a sorted set of hashes by the time of the last answer, in ms since 1970. */
export function createReadRepositories({ redis, prefix, now, limit = 200_000 }: ReadRepositoriesOptions): ReadRepositories {
  const key = `${prefix}:repositories-read`;
  const known = new BoundedMap<string, number>(maxKnown);
  const isRecent = (at: number | undefined, forMs: number) => at !== undefined && Math.abs(now() - at) < forMs;
  /** What is written when the write that is under way has ended: a base policy may read a thousand repositories in a second. */
  const waiting = new Map<string, number>();
  let isWriting = false;
  const write = async () => {
    if (isWriting) return;
    isWriting = true;
    while (waiting.size > 0) {
      const entries = [...waiting].slice(0, maxWrite);
      for (const [member] of entries) waiting.delete(member);
      const scores = entries.flatMap(([member, at]) => [at, member]);
      const trimmed = redis
        .multi()
        .zadd(key, ...scores)
        .zremrangebyscore(key, '-inf', now() - lifeMs);
      await ignoring(
        trimmed
          .zremrangebyrank(key, 0, -limit - 1)
          .pexpire(key, lifeMs)
          .exec(),
      );
    }
    isWriting = false;
  };
  return {
    remember(source) {
      const member = memberOf(source);
      if (isRecent(known.get(member), knownMs)) return;
      const at = now();
      known.set(member, at);
      waiting.set(member, at);
      void write();
    },
    forget(source) {
      const member = memberOf(source);
      known.delete(member);
      waiting.delete(member);
      void ignoring(redis.zrem(key, member));
    },
    async has(source) {
      const member = memberOf(source);
      if (isRecent(known.get(member), knownMs)) return true;
      const at = await redis.zscore(key, member).catch(() => null);
      return at !== null && isRecent(Number(at), lifeMs);
    },
  };
}

/** Resolves when a command has ended, whether Redis has accepted it or not. */
async function ignoring(command: Promise<unknown>): Promise<void> {
  await command.catch(() => undefined);
}

function memberOf(source: ImageSource): string {
  return hashId([formatRepository(source), accessKey(source)]).slice(0, 32);
}
