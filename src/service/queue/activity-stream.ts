/** The record of activity in Redis: one stream for all replicas, bounded by count and age. */
import { defined } from '../../core/model/defined.ts';
import { parseJson } from '../../core/model/untyped.ts';
import { batchWrites } from '../../core/async/serialize.ts';
import { activitySchema, type Activity, type IdentifiedActivity } from '../../core/model/activity.ts';
import { runTogether, type Command } from './commands.ts';
import type { RedisConnection } from './connection.ts';
import { maxOutbox, outboxFunctions, outboxKeys } from './outbox-functions.ts';

/** How long an activity is kept, in ms. */
const activityLifeMs = 90 * 24 * 3_600_000;
/** How many activities are kept. */
export const maxActivities = 50_000;
/**
 * How long the same activity is recorded once, in seconds. A report may be repeated for an hour, like its notices. All replicas see a request within seconds,
 * except one whose watch is silent, which may record it a second time: that is better than to lose an approval that was taken back and given again.
 */
const onceSeconds: Readonly<Record<Activity['type'], number>> = { change: 3_600, action: 180 };
const maxTogether = 200;

/** A recorded activity. `id`: its position in the stream, `MS-N`, of which MS is when it was recorded by the clock of Redis, in ms since 1970. */
export interface RecordedActivity {
  readonly id: string;
  readonly activity: Activity;
}

/** Adds an activity unless it is known, also to an outbox unless that is ''. ARGV: the stream, the mark of the activity, its life, the bounds, its JSON. */
const noteFunction = `${outboxFunctions}
functions.NOTE = function(stream, mark, life, most, json, outbox, mostWaiting)
  if not redis.call('SET', mark, '', 'NX', 'EX', life) then return end
  redis.call('XADD', stream, 'MAXLEN', '~', most, '*', 'activity', json)
  if outbox ~= '' then functions.OUTBOX(outbox, mostWaiting, 'activity', json) end
end`;

/**
 * Creates the writer of one process. An activity that arrives during a write is part of the next one. Rejects if Redis does not accept it. `isKept`: whether activities
 * are also put into the outbox of the durable record.
 */
export function createActivityWriter(
  { redis, prefix, isKept = false }: { readonly redis: RedisConnection; readonly prefix: string; readonly isKept?: boolean },
  now: () => number,
): (activity: IdentifiedActivity) => Promise<void> {
  const stream = streamKey(prefix);
  const outbox = outboxKeys(prefix);
  const writeSome = async (some: readonly IdentifiedActivity[]): Promise<void> => {
    const marks = some.map(({ id }) => `${stream}:${id}`);
    const notes = some.map(({ activity }, index): Command => [
      'NOTE',
      stream,
      marks[index] ?? '',
      onceSeconds[activity.type],
      maxActivities,
      JSON.stringify(activity),
      isKept ? outbox.stream : '',
      maxOutbox,
    ]);
    await runTogether(
      redis,
      [stream, ...marks, ...(isKept ? [outbox.stream, outbox.lost] : [])],
      [...notes, ['XTRIM', stream, 'MINID', '~', now() - activityLifeMs], ['PEXPIRE', stream, activityLifeMs]],
      noteFunction,
    );
  };
  return batchWrites<IdentifiedActivity>(async (activities) => {
    for (let start = 0; start < activities.length; start += maxTogether) await writeSome(activities.slice(start, start + maxTogether));
  });
}

/** Reads the activities before a position, newest first; the newest ones without a position. What is no activity is left out, but is counted as read. */
export async function readActivities(
  redis: RedisConnection,
  prefix: string,
  { before, count }: { readonly before?: string | undefined; readonly count: number },
): Promise<{ readonly found: readonly RecordedActivity[]; readonly last?: string }> {
  const entries = await redis.xrevrange(streamKey(prefix), before === undefined ? '+' : `(${before}`, '-', 'COUNT', count);
  const found = entries.flatMap(([id, fields]) => {
    const activity = parse(fields[1]);
    return activity === undefined ? [] : [{ id, activity }];
  });
  const last = entries.length < count ? undefined : entries.at(-1)?.[0];
  return { found, ...defined({ last }) };
}

/** Creates a reader of the activities that were recorded since its last call; at first of the newest ones. Of many, the others are read with the next call. */
export function createNewActivities(redis: RedisConnection, prefix: string, most = maxTogether): () => Promise<readonly Activity[]> {
  let last: string | undefined;
  return async () => {
    const entries =
      last === undefined
        ? (await redis.xrevrange(streamKey(prefix), '+', '-', 'COUNT', most)).toReversed()
        : await redis.xrange(streamKey(prefix), `(${last}`, '+', 'COUNT', most);
    last = entries.at(-1)?.[0] ?? last ?? '0-0';
    return entries.flatMap(([, fields]) => parse(fields[1]) ?? []);
  };
}

/** Removes up to `count` of the oldest activities, to make room for pushes; returns how many. It works in a full Redis. */
export async function forgetOldestActivities(redis: RedisConnection, prefix: string, count: number): Promise<number> {
  if (count <= 0) return 0;
  const key = streamKey(prefix);
  return redis.xtrim(key, 'MAXLEN', Math.max(0, (await redis.xlen(key)) - count));
}

function parse(json: string | undefined): Activity | undefined {
  return activitySchema.safeParse(parseJson(json)).data;
}

function streamKey(prefix: string): string {
  return `${prefix}:activity`;
}
