/** Notices that exceed what a target is sent in a minute: they are held back, and sent as one summary. */
import { formatSubject, type Notice } from '../../core/model/notice.ts';
import { cut } from '../../core/model/text.ts';
import type { RedisConnection } from './connection.ts';
import { readNotice } from './read-job.ts';

/** What the target is sent in one message. */
export interface NoticeSummary {
  readonly notices: readonly Notice[];
  /** How many more there were than are kept. */
  readonly more: number;
}

/** Shared by all replicas; rejects if Redis does not answer. */
export interface HeldNotices {
  /**
   * Counts a notice for a target. Undefined if it may be sent now; otherwise it is held back in a group, whose summary is due in `afterMs`. A notice that is
   * held back again under the same id counts once.
   */
  hold(
    target: string,
    perMinute: number,
    id: string,
    notice: Notice,
  ): Promise<{ readonly group: number; readonly afterMs: number } | undefined>;
  /** Ends a group, so that nothing is added to it any more, and reads it; the same at every try. */
  close(target: string, group: number): Promise<NoticeSummary>;
  /** Forgets a group that was sent. */
  forget(target: string, group: number): Promise<void>;
}

const maxHeld = 5_000;
/** Longer than a summary is retried. */
const groupLifeMs = 2 * 86_400_000;
/** Longer than any group, so that a number is not used again while its group exists. */
const numberLifeMs = 2 * groupLifeMs;

/** KEYS: what the counts, the number of the current group and the groups begin with. ARGV: limit, id, text, the most that are held, life of a group. */
const holdScript = `
local time = redis.call('TIME')
local counts = KEYS[1] .. ':' .. math.floor(time[1] / 60)
local count = redis.call('INCR', counts)
redis.call('PEXPIRE', counts, 120000)
if count <= tonumber(ARGV[1]) then return {0, 0} end
local group = tonumber(redis.call('GET', KEYS[2])) or 1
local held = KEYS[3] .. ':' .. group
if redis.call('HLEN', held) < tonumber(ARGV[4]) or redis.call('HEXISTS', held, ARGV[2]) == 1 then
  redis.call('HSET', held, ARGV[2], ARGV[3])
else
  redis.call('HINCRBY', held, 'more', 1)
end
redis.call('PEXPIRE', held, ARGV[5])
return {group, 60000 - (time[1] % 60) * 1000 - math.floor(time[2] / 1000)}`;

/** KEYS: the number of the current group, and the group. ARGV: its number, and the life of numbers. */
const closeScript = `
if (tonumber(redis.call('GET', KEYS[1])) or 1) == tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1] + 1, 'PX', ARGV[2]) end
return redis.call('HGETALL', KEYS[2])`;

/** Under the queue's prefix (one Cluster slot). */
export function createHeldNotices(redis: RedisConnection, prefix: string): HeldNotices {
  const keyOf = (what: 'counts' | 'number' | 'held', target: string) => `${prefix}:notices:${what}:${target}`;
  const groupKey = (target: string, group: number) => `${keyOf('held', target)}:${group}`;
  return {
    async hold(target, perMinute, id, notice) {
      const keys = [keyOf('counts', target), keyOf('number', target), keyOf('held', target)];
      const text = JSON.stringify(shorten(notice));
      const answer: unknown = await redis.eval(holdScript, keys.length, ...keys, perMinute, id, text, maxHeld, groupLifeMs);
      const [group, afterMs] = Array.isArray(answer) ? answer.map(Number) : [];
      if (group === undefined || afterMs === undefined) throw new Error('Redis gave no answer about a notice');
      return group === 0 ? undefined : { group, afterMs };
    },
    async close(target, group) {
      const answer: unknown = await redis.eval(closeScript, 2, keyOf('number', target), groupKey(target, group), group, numberLifeMs);
      const fields = Array.isArray(answer) ? answer.map(String) : [];
      const notices: Notice[] = [];
      let more = 0;
      for (let index = 0; index + 1 < fields.length; index += 2) {
        const [field, value = ''] = [fields[index], fields[index + 1]];
        if (field === 'more') more = Number(value) || 0;
        else notices.push(...readHeld(value));
      }
      return { notices: notices.toSorted(byTime), more };
    },
    async forget(target, group) {
      await redis.del(groupKey(target, group));
    },
  };
}

/** What a summary shows of it, and the push whose record says what became of it. */
function shorten({ kind, subject, at, tag, digest, reason, message, eventId }: Notice): Notice {
  return {
    kind,
    subject,
    at,
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message: cut(message, 200) }),
    ...(eventId !== undefined && { eventId }),
  };
}

/** Anyone with write access to Redis may have written it: what cannot be read is left out. */
function readHeld(text: string): Notice[] {
  try {
    return [readNotice(JSON.parse(text))];
  } catch {
    return [];
  }
}

function byTime(a: Notice, b: Notice): number {
  return a.at < b.at ? -1 : Number(a.at > b.at) || (formatSubject(a.subject) < formatSubject(b.subject) ? -1 : 1);
}
