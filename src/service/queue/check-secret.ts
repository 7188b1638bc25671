import { randomBytes } from 'node:crypto';
import type { RedisConnection } from './connection.ts';

/**
 * Creates the function that reads the secret from which the names of Jobs and AnalysisRuns of checks follow: 64 hexadecimal digits, the same for all replicas. It is made by who
 * needs it first, and is in Redis alone, so nobody who reads the cluster knows such a name before its object exists. Rejects where Redis does not answer.
 */
export function createCheckSecret(redis: RedisConnection, prefix: string): () => Promise<string> {
  const key = `${prefix}:check-secret`;
  return async () => {
    await redis.set(key, randomBytes(32).toString('hex'), 'NX');
    const kept = await redis.get(key);
    if (kept === null) throw new Error('Redis has lost the secret for the names of what checks make');
    return kept;
  };
}
