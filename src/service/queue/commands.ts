/** Sends several commands to Redis in one request. */
import type { RedisConnection } from './connection.ts';

/** The script that runs commands. ARGV: for each command, the number of its words, then the words. */
const scriptWith = (functions: string) => `
local functions = {}
${functions}
local i = 1
local answer
while i <= #ARGV do
  local count = tonumber(ARGV[i])
  local own = functions[ARGV[i + 1]]
  if own then answer = own(unpack(ARGV, i + 2, i + count)) else answer = redis.call(unpack(ARGV, i + 1, i + count)) end
  i = i + count + 1
end
return answer`;

/** One Redis command as a list of words. */
export type Command = readonly (string | number)[];

/**
 * Runs commands atomically in one request to Redis, and returns the answer to the last one; rejects at the first that fails. `keys`: all keys of the commands,
 * in one Cluster slot. `functions`: Lua that adds commands to the table `functions`. A transaction of ioredis would load all scripts of BullMQ each time, which
 * costs as much as a whole job (measured).
 */
export async function runTogether(
  redis: RedisConnection,
  keys: readonly string[],
  commands: readonly Command[],
  functions = '',
): Promise<unknown> {
  return redis.eval(scriptWith(functions), keys.length, ...keys, ...commands.flatMap((command) => [command.length, ...command]));
}
