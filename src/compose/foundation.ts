import type { FastifyInstance } from 'fastify';
import type { Settings } from '../config.ts';
import type { Check } from '../operations/readiness.ts';
import type { RedisHealth } from '../queue/redis-health.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** What every role is made of. */
export interface Foundation {
  readonly settings: Settings;
  readonly aliases: ReadonlyMap<string, string>;
  readonly redisHealth: () => RedisHealth;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A part of the service with a life. */
export interface Part {
  readonly checks: () => readonly Check[];
  start(): Promise<void>;
  stop(deadlineMs: number): Promise<void>;
}

/** `http://127.0.0.1:8080` of a listening app. */
export function addressOf(app: FastifyInstance): string {
  const address = app.addresses()[0];
  if (address === undefined || typeof address === 'string') return 'not listening';
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}
