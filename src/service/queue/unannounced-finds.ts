/** Counts images that polls found although no webhook had announced them, by the audit record. The counts are in Redis, shared by all replicas. */
import { formatRepository, type Repository, type Candidate } from '../../core/model/image-reference.ts';
import type { RedisConnection } from './connection.ts';
import { eventKeys } from './event-record.ts';
import type { EventReader } from './read-events.ts';

export interface UnannouncedFinds {
  /** Whether a webhook announced the image, as far back as the audit record goes. Pushes in the queue count. */
  isAnnounced(repository: Repository, image: Candidate): Promise<boolean>;
  /** How many finds the registry would have with this image; undefined if it was counted before. Counts nothing. */
  countWith(repository: Repository, image: Candidate): Promise<number | undefined>;
  /** Counts a find; returns how many the registry has had since its last announced push, or undefined if this image was counted before. */
  add(repository: Repository, image: Candidate, at: Date): Promise<number | undefined>;
}

/** What webhooks have announced of a registry. */
export interface Announcements {
  /** The time of the last announced push, in ms since 1970; undefined if there was none in the last days. */
  readonly lastPush: number | undefined;
  /** The number of images that polls found since the last announced push although no webhook had announced them. */
  readonly unannounced: number;
}

/** Reads the announcements of these registries, in their order. */
export async function readAnnouncements(redis: RedisConnection, prefix: string, registries: readonly string[]): Promise<Announcements[]> {
  const { announcements } = eventKeys(prefix);
  return Promise.all(
    registries.map(async (registry) => {
      const lastPush = await redis.zscore(announcements, registry);
      const unannounced = await redis.zcount(findsKey(prefix, registry), lastPush ?? '-inf', '+inf');
      // A time that no Date can hold is ignored, because anybody with write access to Redis may have written it.
      const at = Number(lastPush ?? Number.NaN);
      return { lastPush: Math.abs(at) < maxTime ? at : undefined, unannounced };
    }),
  );
}

/** The last time that a Date can hold, in ms since 1970. */
const maxTime = 8.64e15;

function findsKey(prefix: string, registry: string): string {
  return `${prefix}:poll:unannounced:${registry}`;
}

const lifeSeconds = 7 * 24 * 3_600;
const maxFinds = 10_000;
/** How many pushes of a repository are read. With more, an image is assumed to be announced, because webhooks of the repository do arrive. */
const maxRead = 2_000;

/** Creates the finds in Redis, under the queue's prefix (one Cluster slot). */
export function createUnannouncedFinds(redis: RedisConnection, prefix: string, events: Pick<EventReader, 'list'>): UnannouncedFinds {
  const { announcements } = eventKeys(prefix);
  return {
    async isAnnounced(repository, image) {
      let read = 0;
      for await (const records of events.list({ repository: formatRepository(repository) })) {
        if (records.some(({ event, state }) => state !== 'ignored' && isSame(event, image))) return true;
        read += records.length;
        if (read >= maxRead) return true;
      }
      return false;
    },
    async countWith(repository, image) {
      const key = findsKey(prefix, repository.registry);
      const counted = await redis.zscore(key, memberOf(repository, image));
      const lastPush = await redis.zscore(announcements, repository.registry);
      if (counted !== null && (lastPush === null || Number(counted) > Number(lastPush))) return undefined;
      return (await redis.zcount(key, lastPush === null ? '-inf' : `(${lastPush}`, '+inf')) + 1;
    },
    async add(repository, image, at) {
      const key = findsKey(prefix, repository.registry);
      const lastPush = await redis.zscore(announcements, repository.registry);
      const transaction = redis.multi();
      if (lastPush !== null) transaction.zremrangebyscore(key, '-inf', lastPush);
      transaction.zadd(key, 'NX', at.getTime(), memberOf(repository, image));
      transaction.zremrangebyrank(key, 0, -maxFinds - 1);
      transaction.zcard(key);
      transaction.expire(key, lifeSeconds);
      const results = (await transaction.exec()) ?? [];
      for (const [error] of results) if (error !== null) throw error;
      const [added, , count] = results.slice(lastPush === null ? 0 : 1).map(([, result]) => Number(result));
      return added === 1 ? count : undefined;
    },
  };
}

function memberOf({ path }: Repository, { tag, digest = '' }: Candidate): string {
  return `${path}:${tag}@${digest}`;
}

function isSame(pushed: Candidate, { tag, digest }: Candidate): boolean {
  return pushed.tag === tag && (pushed.digest === undefined || digest === undefined || pushed.digest === digest);
}
