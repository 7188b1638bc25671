import { randomBytes } from 'node:crypto';
import type { RedisConnection } from './connection.ts';

/** What a secret is for. check: the names of Jobs and AnalysisRuns of checks · delivery: the ids by which senders ask for their deliveries. */
export type SecretUse = 'check' | 'delivery';

/**
 * Creates the function that reads a secret: 64 hexadecimal digits, the same for all replicas. It is made by who needs it first, and is in Redis alone, so that who
 * reads the cluster cannot know what follows from it. Rejects where Redis does not answer.
 */
export function createSharedSecret(redis: RedisConnection, prefix: string, use: SecretUse): () => Promise<string> {
  const key = `${prefix}:${use}-secret`;
  return async () => {
    await redis.set(key, randomBytes(32).toString('hex'), 'NX');
    const kept = await redis.get(key);
    if (kept === null) throw new Error('Redis has lost a secret that all replicas share');
    return kept;
  };
}
