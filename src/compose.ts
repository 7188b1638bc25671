/** The composition root: configuration → adapters → roles. Starts in this order, stops in the reverse one. */
import type { Role } from './roles.ts';
import { addressOf, closeListener, type Foundation, type Part } from './compose/foundation.ts';
import { composeReceive } from './compose/receive.ts';
import { composeWork } from './compose/work.ts';
import { ConfigError, registryAliases, type Settings } from './config.ts';
import { describeError } from './core/errors.ts';
import { createKubeClient, type KubeClient } from './kube/client.ts';
import { buildOperationsApp } from './operations/app.ts';
import type { Check } from './operations/readiness.ts';
import { connectProducer } from './queue/connection.ts';
import { monitorRedis, type RedisHealth } from './queue/redis-health.ts';
import type { Logger } from './telemetry/logger.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';

export interface Service {
  /** Resolves when the listeners are up; Redis, the API server and registries may come later. */
  start(): Promise<void>;
  stop(deadlineMs: number): Promise<void>;
  /** Where the listeners are, once started. */
  addresses(): { readonly public?: string; readonly operations: string };
}

/**
 * Builds the roles of one process. Nothing is opened before `start`, except connections that open themselves when they can.
 * Throws ConfigError without a usable kubeconfig.
 */
export function compose(settings: Settings, roles: ReadonlySet<Role>, logger: Logger): Service {
  const { config } = settings;
  // First of all, because it is what may fail: nothing is open yet.
  const cluster = roles.has('work') ? openCluster(settings.kubeconfig) : undefined;
  const metrics = createMetrics();
  const redis = connectProducer(config.redis.url);
  redis.on('error', (error) => logger.debug({ err: error }, 'redis connection'));
  const monitor = monitorRedis(redis, (health) => reportRedis(health, logger));
  const foundation: Foundation = { settings, aliases: registryAliases(config), redisHealth: monitor.health, logger, metrics };

  const receive = roles.has('receive') ? composeReceive(foundation, redis) : undefined;
  const work = cluster === undefined ? undefined : composeWork(foundation, cluster);
  const parts: Part[] = [receive, work].filter((part) => part !== undefined);
  const operations = buildOperationsApp({
    checks: () => [checkRedis(monitor.health()), ...parts.flatMap((part) => part.checks())],
    metricsRegistry: metrics.registry,
    beforeScrape() {
      showRedis(monitor.health(), metrics);
      for (const part of parts) part.measure?.();
    },
  });

  return {
    async start() {
      await operations.listen({ host: config.operations.host, port: config.operations.port });
      for (const part of parts) await part.start();
      logger.info({ roles: [...roles], ...this.addresses() }, 'started');
    },
    async stop(deadlineMs) {
      const deadline = Date.now() + deadlineMs;
      for (const part of parts) await part.stop(Math.max(0, deadline - Date.now()));
      monitor.stop();
      redis.disconnect();
      await closeListener(operations);
    },
    addresses() {
      const address = receive?.address();
      return { ...(address !== undefined && { public: address }), operations: addressOf(operations) };
    },
  };
}

function checkRedis({ reachable, memoryShare, durabilityProblem, error }: RedisHealth): Check {
  const share = memoryShare > 0 ? `${Math.round(memoryShare * 100)} % of maxmemory in use` : undefined;
  return {
    name: 'redis',
    ok: reachable,
    required: true,
    detail: error ?? ([durabilityProblem, share].filter(Boolean).join('; ') || undefined),
  };
}

function showRedis(health: RedisHealth, metrics: Metrics): void {
  metrics.redisReachable.set(health.reachable ? 1 : 0);
  metrics.redisDurable.set(health.reachable && health.durabilityProblem === undefined ? 1 : 0);
  metrics.redisMemoryShare.set(health.memoryShare);
}

function reportRedis({ reachable, durabilityProblem, error }: RedisHealth, logger: Logger): void {
  if (!reachable) logger.warn({ why: error }, 'redis does not answer');
  else if (durabilityProblem === undefined) logger.info('redis answers');
  else logger.warn({ why: durabilityProblem }, 'redis answers, but may lose accepted pushes');
}

function openCluster(kubeconfig: string | undefined): KubeClient {
  try {
    return createKubeClient(kubeconfig === undefined ? {} : { kubeconfig });
  } catch (error) {
    throw new ConfigError('Kubernetes access', [{ path: 'KUBECONFIG', message: describeError(error) }]);
  }
}
