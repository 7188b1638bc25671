/** Records when each target of notifications last accepted a message, and last did not; shared by all replicas. */
import { defined } from '../../core/model/defined.ts';
import { cut } from '../../core/model/text.ts';
import { runTogether } from './commands.ts';
import type { RedisConnection } from './connection.ts';

/** The last results of a target. Times are in ms since 1970. */
export interface LastResults {
  readonly acceptedAt?: number;
  readonly failedAt?: number;
  /** Why the target last did not accept a message. */
  readonly why?: string;
}

export interface NoticeResults {
  /** Records a result. `why`: why the message was not accepted; undefined if it was. Rejects if Redis does not answer. */
  record(target: string, at: number, why: string | undefined): Promise<void>;
  /** Reads the results of some targets, in their order. Rejects if Redis does not answer. */
  read(targets: readonly string[]): Promise<readonly LastResults[]>;
}

const lifeMs = 30 * 24 * 3_600_000;
const maxWhy = 500;

/** Creates the record in Redis, under the queue's prefix (one Cluster slot). A target that has got nothing for 30 days is forgotten. */
export function createNoticeResults(redis: RedisConnection, prefix: string): NoticeResults {
  const keyOf = (target: string) => `${prefix}:notices:results:${target}`;
  return {
    async record(target, at, why) {
      const key = keyOf(target);
      const fields = why === undefined ? ['acceptedAt', at] : ['failedAt', at, 'why', cut(why, maxWhy)];
      await runTogether(
        redis,
        [key],
        [
          ['HSET', key, ...fields],
          ['PEXPIRE', key, lifeMs],
        ],
      );
    },
    read: (targets) => Promise.all(targets.map(async (target) => readResults(await redis.hgetall(keyOf(target))))),
  };
}

/** The fields that can be read. Others are left out, because anyone with write access to Redis may have written them. */
function readResults({ acceptedAt, failedAt, why }: Readonly<Record<string, string>>): LastResults {
  const failed = readTime(failedAt);
  return {
    ...defined({ acceptedAt: readTime(acceptedAt), failedAt: failed }),
    ...(failed !== undefined && why !== undefined && { why: cut(why, maxWhy) }),
  };
}

function readTime(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{12,14}$/.test(text) ? Number(text) : undefined;
}
