/** The role `receive`: webhooks into Redis. Needs nothing but Redis. */
import type { FastifyInstance } from 'fastify';
import { addressOf, closeListener, type Foundation, type Part } from './foundation.ts';
import type { RedisAccess } from './redis.ts';
import { createPushQueue } from '../queue/producer.ts';
import type { RedisHealth } from '../queue/redis-health.ts';
import { buildReceiveApp } from '../receive/app.ts';
import type { Receiver } from '../receive/answer-delivery.ts';
import { providers } from '../receive/providers/index.ts';

/** A full Redis stops the workers too: they need room to finish what is there. */
const maxMemoryShare = 0.8;

/** Builds the role. */
export function composeReceive(foundation: Foundation, redis: RedisAccess): Part & { address(): string | undefined } {
  const { settings, aliases, logger, metrics } = foundation;
  const { config } = settings;
  const onError = (error: Error) => logger.debug({ err: error }, 'push queue');
  const queue = createPushQueue({ redis: redis.connection, prefix: config.redis.prefix, onError }, config.redis.minReplicas);
  let app: FastifyInstance | undefined;
  return {
    checks: () => [{ name: 'public listener', ok: app?.server.listening === true, required: true }],
    address: () => (app === undefined ? undefined : addressOf(app)),
    async start() {
      app = await buildReceiveApp({
        receivers: config.receivers.map((receiver) => toReceiver(receiver, foundation)),
        bodyLimitBytes: config.listen.bodyLimitBytes,
        requestsPerMinute: config.listen.requestsPerMinute,
        aliases,
        storePushes: (events) => queue.add(events),
        refusal: () => refuse(redis.health(), config.redis.durability),
        now: () => new Date(),
        logger,
        metrics,
      });
      await app.listen({ host: config.listen.host, port: config.listen.port });
    },
    async stop() {
      if (app !== undefined) await closeListener(app);
    },
  };
}

function toReceiver(receiver: Foundation['settings']['config']['receivers'][number], { settings }: Foundation): Receiver {
  const provider = providers.find(({ id }) => id === receiver.provider);
  if (provider === undefined) throw new Error(`the provider ${receiver.provider} of receiver ${receiver.name} is not in the list`);
  return {
    name: receiver.name,
    provider,
    unauthenticated: receiver.unauthenticated,
    secrets: () => settings.secretsOf(receiver.name),
    registryOverride: receiver.registry,
  };
}

function refuse({ memoryShare, durabilityProblem }: RedisHealth, durability: 'warn' | 'enforce' | 'ignore'): string | undefined {
  if (memoryShare > maxMemoryShare) return `Redis uses ${Math.round(memoryShare * 100)} % of its maxmemory`;
  if (durability === 'enforce' && durabilityProblem !== undefined) return `redis.durability is enforce: ${durabilityProblem}`;
  return undefined;
}
