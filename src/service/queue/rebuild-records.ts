/** Records in Redis how far requested rebuilds of BaseImagePolicies have come, in one hash for each policy and base. */
import { parseJson } from '../../core/model/untyped.ts';
import { z } from 'zod';
import { hashId } from '../../core/model/push-event.ts';
import type { RedisConnection } from './connection.ts';

/** A record of a rebuild, in the shape of `RebuildState` in triggers/order.ts. */
const rebuildRecord = z.object({
  pipeline: z.string().max(128),
  source: z.string().max(512),
  state: z.enum(['Pending', 'Requested', 'Failed']),
  at: z.iso.datetime(),
  message: z.string().max(1_024).exactOptional(),
  after: z.iso.datetime().exactOptional(),
});
export type RebuildRecord = Readonly<z.output<typeof rebuildRecord>>;

type Target = Pick<RebuildRecord, 'pipeline' | 'source'>;

export interface RebuildRecords {
  /** Reads the records of these rebuilds. A rebuild without a readable record is left out. */
  read(uid: string, base: string, rebuilds: readonly Target[]): Promise<RebuildRecord[]>;
  write(uid: string, base: string, record: RebuildRecord): Promise<void>;
  /** Writes a record unless the same rebuild has one. */
  writeFirst(uid: string, base: string, record: RebuildRecord): Promise<void>;
}

const lifeSeconds = 30 * 24 * 3_600;

/** Creates the records. They expire 30 days after the last change to the records of the same policy and base. */
export function createRebuildRecords(redis: RedisConnection, prefix: string): RebuildRecords {
  const keyOf = (uid: string, base: string) => `${prefix}:rebuilds:${hashId([uid, base])}`;
  return {
    async read(uid, base, rebuilds) {
      if (rebuilds.length === 0) return [];
      const texts = await redis.hmget(keyOf(uid, base), ...rebuilds.map(fieldOf));
      return texts.flatMap((text) => rebuildRecord.safeParse(parseJson(text)).data ?? []);
    },
    async write(uid, base, record) {
      const key = keyOf(uid, base);
      await redis.multi().hset(key, fieldOf(record), JSON.stringify(record)).expire(key, lifeSeconds).exec();
    },
    async writeFirst(uid, base, record) {
      const key = keyOf(uid, base);
      await redis.multi().hsetnx(key, fieldOf(record), JSON.stringify(record)).expire(key, lifeSeconds).exec();
    },
  };
}

function fieldOf({ pipeline, source }: Target): string {
  return hashId([pipeline, source]);
}
