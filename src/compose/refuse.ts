import type { RedisHealth } from '../queue/redis-health.ts';

/** A full Redis stops the workers too: they need room to finish what is there. */
const maxMemoryShare = 0.8;

/** Why pushes cannot be stored at present, or undefined. */
export function refuse({ memoryShare, durabilityProblem }: RedisHealth, durability: 'warn' | 'enforce' | 'ignore'): string | undefined {
  if (memoryShare > maxMemoryShare) return `Redis uses ${Math.round(memoryShare * 100)} % of its maxmemory`;
  if (durability === 'enforce' && durabilityProblem !== undefined) return `redis.durability is enforce: ${durabilityProblem}`;
  return undefined;
}
