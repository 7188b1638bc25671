import type { Redis } from 'ioredis';
import type { RedisConnection } from './connection.ts';

/** The server that holds our keys: in a Cluster, the node of their slot, over the connection that writes use. Rejects while it is unknown. */
export async function ownerOf(connection: RedisConnection, prefix: string): Promise<Redis> {
  if (!('slots' in connection)) return connection;
  const slot = await connection.cluster('KEYSLOT', prefix);
  const [address] = connection.slots[slot] ?? [];
  const owner = connection.nodes('master').find(({ options: { host, port } }) => `${host}:${port}` === address);
  if (owner === undefined) throw new Error(`no node of the Redis Cluster has slot ${slot} at present`);
  return owner;
}
