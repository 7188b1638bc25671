/** Notices above the limit of a target per minute: they are held back, and sent as one summary. */
import { defined } from '../../core/model/defined.ts';
import { formatSubject, type Notice } from '../../core/model/notice.ts';
import { cut } from '../../core/model/text.ts';
import type { RedisConnection } from './connection.ts';
import { readNotice } from './read-job.ts';

/** The notices that were held back for a target, which it receives as one message. */
export interface NoticeSummary {
  readonly notices: readonly Notice[];
  /** How many notices were held back in addition to those that are kept. */
  readonly more: number;
}

/** The held notices, shared by all replicas. Rejects if Redis does not answer. */
export interface HeldNotices {
  /**
   * Counts a notice for a target. Undefined if the notice may be sent now; otherwise it is held back in a group, whose summary is due in `afterMs`. A notice
   * that is held back again under the same id counts once.
   */
  hold(
    target: string,
    perMinute: number,
    id: string,
    notice: Notice,
  ): Promise<{ readonly group: number; readonly afterMs: number } | undefined>;
  /** Closes a group, so that no more notices are added to it, and reads it. Returns the same at every try. */
  close(target: string, group: number): Promise<NoticeSummary>;
  /** Forgets a group that was sent. */
  forget(target: string, group: number): Promise<void>;
}

const maxHeld = 5_000;
/** How long a group is kept: longer than the retries of its summary. */
const groupLifeMs = 2 * 86_400_000;
/** How long the number of a group is kept: longer than the group, so that no existing group's number is used again. */
const numberLifeMs = 2 * groupLifeMs;

/** Counts a notice or holds it back. KEYS: prefixes of the counts, of the group's number, of the groups. ARGV: limit, id, text, the most held, group life. */
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

/** Closes a group. KEYS: the key of the current group's number, and the group. ARGV: the number of the group, and the life of numbers. */
const closeScript = `
if (tonumber(redis.call('GET', KEYS[1])) or 1) == tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1] + 1, 'PX', ARGV[2]) end
return redis.call('HGETALL', KEYS[2])`;

/** Creates the held notices in Redis, under the queue's prefix (one Cluster slot). */
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

/** The part of a notice that a summary shows, and the id of the push that it is about. */
function shorten({ kind, subject, at, tag, digest, reason, message, eventId }: Notice): Notice {
  return {
    kind,
    subject,
    at,
    ...defined({ tag, digest, reason }),
    ...(message !== undefined && { message: cut(message, 200) }),
    ...defined({ eventId }),
  };
}

/** The notices of a group that can be read. Others are left out, because anyone with write access to Redis may have written them. */
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
