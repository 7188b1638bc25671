/** Which notices were reported about the images on a base, in Redis: each is reported once for each version of the base, by whichever replica, also after a restart. */
import { within } from '../../core/async/deadline.ts';
import { hashId } from '../../core/model/push-event.ts';
import type { QueueAccess } from '../../service/queue/producer.ts';

/** A version of the base of a policy. */
interface Scope {
  readonly uid: string;
  readonly base: string;
}

export interface ReportedNotices {
  /** Reads which of the keys were reported; undefined if Redis does not answer. */
  read(scope: Scope, keys: readonly string[]): Promise<ReadonlySet<string> | undefined>;
  /** Records keys as reported. Rejects if Redis does not answer. */
  add(scope: Scope, keys: readonly string[]): Promise<void>;
}

const readMs = 2_000;
/** Kept this long after the last reconcile of the policy on this version. */
const keptSeconds = 30 * 24 * 3_600;

export function createReportedNotices({ redis, prefix }: Pick<QueueAccess, 'redis' | 'prefix'>): ReportedNotices {
  const keyOf = ({ uid, base }: Scope) => `${prefix}:base:reported:${hashId([uid, base])}`;
  return {
    async read(scope, keys) {
      const key = keyOf(scope);
      const asked = Promise.all([redis.smismember(key, ...keys), redis.expire(key, keptSeconds)]);
      const answer = await within(readMs, asked);
      return answer && new Set(keys.filter((_, index) => answer[0][index] === 1));
    },
    async add(scope, keys) {
      const key = keyOf(scope);
      await redis.sadd(key, ...keys);
      await redis.expire(key, keptSeconds);
    },
  };
}
