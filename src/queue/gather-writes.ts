import type { RedisConnection } from './connection.ts';

/**
 * Lets what is sent to Redis in this turn of the event loop leave in one write. Under load that spares a system call for each command here, and there a read and,
 * with `appendfsync always`, an fsync; alone, a command leaves as soon as without it.
 */
export function gatherWrites(connection: RedisConnection): void {
  // A Cluster has a connection to each node.
  const stream = 'stream' in connection ? connection.stream : undefined;
  if (stream === undefined || stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}
