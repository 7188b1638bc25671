import type { Redis } from 'ioredis';
import type { RedisConnection } from './connection.ts';
import { ownerOf } from './key-owner.ts';

/** How long replicas may take; within the time that a sender is given. */
const patienceMs = 300;

/**
 * Writes, and resolves when `minReplicas` replicas have it; rejects when that is not sure. WAIT speaks of what its own connection has written: on a new
 * one, to a server that was promoted meanwhile and never saw the write, it would say yes. So what the connection did not outlive is no confirmation.
 */
export function createReplicatedWrite(connection: RedisConnection, prefix: string, minReplicas: number) {
  const losses = new WeakMap<Redis, { count: number }>();
  const lossesOf = (server: Redis): { count: number } => {
    const known = losses.get(server);
    if (known !== undefined) return known;
    const lost = { count: 0 };
    server.on('close', () => lost.count++);
    losses.set(server, lost);
    return lost;
  };
  return async (write: () => Promise<unknown>): Promise<void> => {
    if (minReplicas === 0) return void (await write());
    const server = await ownerOf(connection, prefix);
    const lost = lossesOf(server);
    const { count } = lost;
    await write();
    const replicas = await server.wait(minReplicas, patienceMs);
    if (lost.count !== count || (await ownerOf(connection, prefix)) !== server) {
      throw new Error('the connection to Redis was lost before its replicas had confirmed the push');
    }
    if (replicas < minReplicas) throw new Error(`the push reached ${replicas} of ${minReplicas} Redis replicas in time`);
  };
}
