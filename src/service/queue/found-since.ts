/** Remembers since when reports on the installation have had their findings, shared by all replicas and across restarts. */
import type { RedisConnection } from './connection.ts';

/** Notes what a report has found: since when by id, in ms since 1970, as far as this process knows. Answers the earliest times that are known. */
export type NoteFound = (found: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, number>>;

/** The most findings that are remembered, and the longest id. What is beyond is dated by each process alone. */
const [maxFound, maxLength] = [200, 512];
/** A finding is over when a report is without it so long after the last report with it: replicas do not find the same at every moment. */
const quietMs = 120_000;
/** Where nobody has asked for a report for so long, what is found then counts as new. */
const lifeMs = 24 * 3_600_000;

/** A field for each finding: since when, and when a report last had it. ARGV: now, the pause, the most fields, the life; then for each finding its id and its time. */
const script = `
local now, quiet, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local found, answer = {}, {}
for i = 5, #ARGV, 2 do
  local since = tonumber(ARGV[i + 1])
  local before = tonumber(string.match(redis.call('HGET', KEYS[1], ARGV[i]) or '', '^(%d+) %d+$'))
  if before and before < since then since = before end
  redis.call('HSET', KEYS[1], ARGV[i], string.format('%.0f %.0f', since, now))
  found[ARGV[i]] = true
  answer[#answer + 1] = string.format('%.0f', since)
end
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local seen = tonumber(string.match(all[i + 1], ' (%d+)$'))
  if not found[all[i]] and (#all > 2 * most or not seen or now - seen > quiet) then redis.call('HDEL', KEYS[1], all[i]) end
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return answer`;

/** Creates the memory in Redis, under the queue's prefix (one Cluster slot). Rejects while Redis does not answer. */
export function createNoteFound(redis: RedisConnection, prefix: string, now: () => number): NoteFound {
  return async (found) => {
    const noted = [...found].filter(([id]) => id.length <= maxLength).slice(0, maxFound);
    const words = noted.flatMap(([id, since]) => [id, since]);
    const answer = await redis.eval(script, 1, `${prefix}:found`, now(), quietMs, maxFound, lifeMs, ...words);
    const times = (Array.isArray(answer) ? answer : []).map(Number);
    return new Map(noted.map(([id, since], index) => [id, times[index] ?? since]));
  };
}
