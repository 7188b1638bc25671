import type { RedisConnection } from './connection.ts';

/** ARGV: for each command how many words it has, and the words. */
const script = `
local i = 1
local answer
while i <= #ARGV do
  local count = tonumber(ARGV[i])
  answer = redis.call(unpack(ARGV, i + 1, i + count))
  i = i + count + 1
end
return answer`;

/** One command of Redis, word by word. */
export type Command = readonly (string | number)[];

/**
 * Runs commands one after the other with nothing in between, as one question to Redis, and tells the last one's answer; rejects at the first that fails.
 * `keys`: all that they name (one Cluster slot). Not a transaction of ioredis: that costs as much as a whole job, because it learns all scripts of BullMQ
 * each time (measured).
 */
export async function runTogether(redis: RedisConnection, keys: readonly string[], commands: readonly Command[]): Promise<unknown> {
  return redis.eval(script, keys.length, ...keys, ...commands.flatMap((command) => [command.length, ...command]));
}
