/** How several commands reach Redis in one request or one write. */
import type { RedisConnection } from './connection.ts';

/** ARGV: for each command, the number of its words, then the words. */
const script = `
local i = 1
local answer
while i <= #ARGV do
  local count = tonumber(ARGV[i])
  answer = redis.call(unpack(ARGV, i + 1, i + count))
  i = i + count + 1
end
return answer`;

/** One Redis command as a list of words. */
export type Command = readonly (string | number)[];

/**
 * Runs commands one after the other, with no other command in between, in one request to Redis, and returns the last one's answer; rejects at the first that
 * fails. `keys`: all keys that they name (one Cluster slot). It is not a transaction of ioredis, which costs as much as a whole job, because it loads all
 * scripts of BullMQ each time (measured).
 */
export async function runTogether(redis: RedisConnection, keys: readonly string[], commands: readonly Command[]): Promise<unknown> {
  return redis.eval(script, keys.length, ...keys, ...commands.flatMap((command) => [command.length, ...command]));
}

/**
 * Sends the commands of one turn of the event loop to Redis in one write. Under load this saves a system call per command here, and in Redis a read and, with
 * `appendfsync always`, an fsync; a single command leaves as soon as without it.
 */
export function gatherWrites(connection: RedisConnection): void {
  // A Cluster has a connection to each node.
  const stream = 'stream' in connection ? connection.stream : undefined;
  if (stream === undefined || stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}
