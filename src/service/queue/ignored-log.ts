/**
 * Records ignored pushes in the background, so that no response waits for it. Repetitions (same receiver, reason, message, repository and tag) are one event with a
 * count. Only the newest events of each receiver and reason are kept, in separate indexes.
 */
import { tryNormaliseRepository, type RegistryAliases } from '../../core/model/image-reference.ts';
import { hashId, type IgnoredPush } from '../../core/model/push-event.ts';
import type { IgnoredReason } from '../../core/model/reasons.ts';
import type { RedisConnection } from './connection.ts';
import { eventKeys, recordSeconds, type EventKeys } from './event-record.ts';
import { runTogether, type Command } from './commands.ts';

/** The ignored parts of an authentic delivery. */
export interface IgnoredDelivery {
  readonly receiver: string;
  readonly provider: string;
  /** The receiver's setting `registry`, which overrides the registry that the sender names. */
  readonly registryOverride?: string | undefined;
  readonly ignored: readonly IgnoredPush[];
  readonly receivedAt: Date;
}

export interface IgnoredLog {
  /** Adds ignored pushes to the next write, within a second. Returns before that, and never throws. */
  add(delivery: IgnoredDelivery): void;
  /** Writes everything that is pending, and stops. */
  stop(): Promise<void>;
}

export interface IgnoredLogOptions {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly aliases: RegistryAliases;
  /** Whether Redis has enough memory for records. */
  readonly canWrite: () => boolean;
  /** Called for ignored pushes that are not recorded. `rate`: too many of one receiver and reason together. `redis`: it is slow, nearly full or unreachable. */
  readonly onDropped: (of: Pick<IgnoredDelivery, 'receiver' | 'provider'>, why: 'rate' | 'redis', count: number) => void;
  readonly flushMs?: number;
}

/** The number of ignored pushes per delivery that are recorded, which is the number that its response lists. */
const maxOfDelivery = 20;
/** The number of different events of one receiver and reason per write. */
const maxOfFlush = 20;
/** The number of records that are kept for each receiver and reason. */
const maxKept = 50;
/** The minimum number of old records that are removed together. */
const slack = 10;
const maxTextLength = 256;

/** An ignored push, and how often it was received since the last write. */
interface Entry {
  readonly ignored: IgnoredPush;
  receivedAt: Date;
  count: number;
}

/** The ignored pushes of one receiver for one reason. */
interface Group extends Pick<IgnoredDelivery, 'receiver' | 'provider' | 'registryOverride'> {
  readonly reason: IgnoredReason;
  readonly entries: Map<string, Entry>;
}

/** Creates the log in Redis, under the queue's prefix (one Cluster slot). Each listener has one. */
export function createIgnoredLog({ redis, prefix, aliases, canWrite, onDropped, flushMs = 1_000 }: IgnoredLogOptions): IgnoredLog {
  const keys = eventKeys(prefix);
  let groups = new Map<string, Group>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  const note = (delivery: IgnoredDelivery, ignored: IgnoredPush): void => {
    const { receiver, provider, registryOverride, receivedAt } = delivery;
    const { code: reason = 'OtherEvent' } = ignored;
    const name = `${receiver} ${reason}`;
    let group = groups.get(name);
    if (group === undefined) groups.set(name, (group = { receiver, provider, registryOverride, reason, entries: new Map() }));
    const key = `${ignored.reason}\n${ignored.registry}\n${ignored.repository}\n${ignored.tag}`;
    const entry = group.entries.get(key);
    if (entry !== undefined) {
      entry.count++;
      entry.receivedAt = receivedAt;
    } else if (group.entries.size < maxOfFlush) group.entries.set(key, { ignored, receivedAt, count: 1 });
    else onDropped(delivery, writing === undefined ? 'rate' : 'redis', 1);
  };

  const write = async (group: Group): Promise<void> => {
    try {
      if (!canWrite()) throw new Error('Redis has no room for records');
      await writeGroup(redis, keys, group, aliases);
    } catch {
      const count = [...group.entries.values()].reduce((sum, entry) => sum + entry.count, 0);
      onDropped(group, 'redis', count);
    }
  };
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const noted = groups;
    groups = new Map();
    // The groups are written one after the other, so that Redis can store pushes in between.
    for (const group of noted.values()) await write(group);
  };
  /** Starts a write unless one is running. Events that arrive during a write are part of the next one. */
  const start = (): void => {
    if (writing !== undefined || timer !== undefined) return;
    timer = setTimeout(() => {
      writing = flush().finally(() => {
        writing = undefined;
        if (groups.size > 0) start();
      });
    }, flushMs).unref();
  };

  return {
    add(delivery) {
      const { ignored } = delivery;
      if (ignored.length === 0) return;
      for (const one of ignored.slice(0, maxOfDelivery)) note(delivery, one);
      if (ignored.length > maxOfDelivery) onDropped(delivery, 'rate', ignored.length - maxOfDelivery);
      start();
    },
    async stop() {
      await writing;
      await flush();
    },
  };
}

/** Writes the entries of a group in one request, then removes the oldest of the group with their hashes. */
async function writeGroup(redis: RedisConnection, keys: EventKeys, group: Group, aliases: RegistryAliases): Promise<void> {
  const ofGroup = keys.ignoredOf(group.receiver, group.reason);
  const records = [...group.entries.values()].map((entry) => toRecord(group, entry, aliases));
  const indexes = [keys.ignored, ofGroup];
  const oldest = Math.max(...records.map(({ at }) => at)) - recordSeconds * 1_000;
  const commands = [
    ...records.flatMap(({ id, count, fields }): Command[] => [
      ['HSET', keys.hash(id), ...fields],
      ['HINCRBY', keys.hash(id), 'count', count],
      ['EXPIRE', keys.hash(id), recordSeconds],
    ]),
    ...indexes.flatMap((index): Command[] => [
      ['ZADD', index, ...records.flatMap(({ id, at }) => [at, id])],
      ['ZREMRANGEBYSCORE', index, '-inf', oldest],
      ['EXPIRE', index, recordSeconds],
    ]),
    ['ZCARD', ofGroup],
  ];
  const count = await runTogether(redis, [...records.map(({ id }) => keys.hash(id)), ...indexes], commands);
  if (Number(count) < maxKept + slack) return;
  const surplus = await redis.zrange(ofGroup, '0', String(-maxKept - 1));
  if (surplus.length === 0) return;
  const hashes = surplus.map(keys.hash);
  await runTogether(redis, [...indexes, ...hashes], [...indexes.map((index) => ['ZREM', index, ...surplus]), ['UNLINK', ...hashes]]);
}

/** The hash of an ignored push, as alternating field names and values. Image names are normalised if possible, so that queries find them like pushes. */
function toRecord(
  { receiver, provider, registryOverride, reason }: Group,
  { ignored, receivedAt, count }: Entry,
  aliases: RegistryAliases,
) {
  const registry = registryOverride ?? ignored.registry;
  const normal =
    registry === undefined || ignored.repository === undefined ? undefined : tryNormaliseRepository(registry, ignored.repository, aliases);
  const names = {
    message: ignored.reason.slice(0, maxTextLength),
    registry: (normal?.registry ?? registry)?.slice(0, maxTextLength),
    repository: (normal?.path ?? ignored.repository)?.slice(0, maxTextLength),
    tag: ignored.tag?.slice(0, maxTextLength),
  };
  const { message, registry: host = '', repository = '', tag = '' } = names;
  const id = hashId(['ignored', receiver, reason, message, host, repository, tag]);
  const fields = { ...names, id, receiver, provider, outcome: 'ignored', reason, receivedAt: receivedAt.toISOString() };
  return {
    id,
    at: receivedAt.getTime(),
    count,
    fields: Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name, value])),
  };
}
