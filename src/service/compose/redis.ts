/** The connection that stores pushes, and the state of Redis. */
import type { Settings } from '../config/settings.ts';
import { formatKeys } from '../resources/validation/problem.ts';
import { describeError } from '../../core/model/errors.ts';
import type { Check } from '../telemetry/readiness.ts';
import { connectProducer, type RedisConnection, type RedisAddress } from '../queue/connection.ts';
import { explainConnection } from '../queue/connection-failures.ts';
import { type WaitingWatch, watchWaiting } from '../queue/oldest-waiting.ts';
import { monitorRedis, type RedisHealth } from '../queue/redis-health.ts';
import { describeHealth, stateOf, type Correction, type RedisState } from '../queue/redis-state.ts';
import { createTrimming, type TrimPorts, type Trimming } from '../queue/trim-redis.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Foundation } from './foundation.ts';

export interface RedisAccess {
  /** The connection of a producer, which fails without a wait if Redis is not reachable. */
  readonly connection: RedisConnection;
  readonly health: () => RedisHealth;
  /** Since when Redis is not reachable, in ms since 1970; undefined if it is. */
  readonly awaySince: () => number | undefined;
  readonly noteStored: (pushes: number) => void;
  readonly checks: () => readonly Check[];
  readonly measure: (metrics: Metrics) => void;
  stop(): void;
}

/** The address of Redis according to the configuration. */
export function redisAddressOf({ config: { redis }, redisPassword, sentinelPassword }: Settings): RedisAddress {
  const { url, sentinels, cluster } = redis;
  return { url: redisPassword === undefined ? url : withPassword(url, redisPassword), sentinels, cluster, sentinelPassword };
}

function withPassword(text: string, password: string): string {
  const url = new URL(text);
  url.password = encodeURIComponent(password);
  return url.href;
}

/** Opens the connection and monitors it. It connects as soon as Redis is reachable. */
export function openRedis(settings: Settings, logger: Logger): RedisAccess {
  const { prefix } = settings.config.redis;
  // A busy disk delays commands by a second. With a shorter timeout, the process would be not ready during that time.
  const connection = connectProducer(redisAddressOf(settings), Math.max(settings.config.listen.confirmWithin, 2_000));
  connection.on('error', (error) => logger.debug({ err: error }, 'redis connection error'));
  let awaySince: number | undefined;
  const monitor = monitorRedis(connection, prefix, (health) => {
    awaySince = health.reachable ? undefined : (awaySince ?? Date.now());
    reportRedis(stateOf(health, settings.config.redis), settings, logger);
  });
  return {
    connection,
    health: monitor.health,
    awaySince: () => awaySince,
    noteStored: monitor.noteStored,
    checks: () => [checkRedis(monitor.health())],
    measure: (metrics) => measureRedis(monitor.health(), metrics),
    stop() {
      monitor.stop();
      connection.disconnect();
    },
  };
}

/** Measures how long jobs wait for a worker; runs in receivers as well, so that missing workers are noticed. */
export function measureWaiting(redis: RedisAccess, { settings, logger, metrics }: Foundation): WaitingWatch {
  const onError = (error: Error) => logger.debug({ err: error }, 'redis connection error');
  return watchWaiting({
    access: { redis: redis.connection, prefix: settings.config.redis.prefix, onError },
    now: Date.now,
    onTimes(times) {
      for (const [queue, seconds] of Object.entries(times)) metrics.queueOldest.set({ queue }, seconds);
    },
    onUnread: (error) => logger.debug({ why: describeError(error) }, 'ages of queues could not be read'),
  });
}

/** Frees memory in a Redis that is nearly full, and logs what was removed. */
export function trimRedis({ logger, ...ports }: Omit<TrimPorts, 'onTrimmed' | 'onError'> & { readonly logger: Logger }): Trimming {
  return createTrimming({
    ...ports,
    onTrimmed: ({ jobs, records, activities, failedJobs, share }) =>
      logger.warn({ jobs, records, activities, failedJobs, share }, 'redis nearly full, finished work is trimmed early'),
    onError: (error) => logger.warn({ why: describeError(error) }, 'redis could not be trimmed'),
  });
}

/** Reports errors of worker queues. Errors of their connection are reported once, as the state of Redis, and not by each queue. */
export function queueErrorReporter(logger: Logger): (error: Error) => void {
  return (error) => {
    const why = describeError(error);
    if (explainConnection(error) === undefined) logger.warn({ why }, 'queue connection error');
    else logger.debug({ why }, 'queue connection error');
  };
}

function checkRedis(health: RedisHealth): Check {
  return { name: 'redis', ok: health.reachable, required: true, detail: describeHealth(health) };
}

function measureRedis(health: RedisHealth, metrics: Metrics): void {
  metrics.redisReachable.set(health.reachable ? 1 : 0);
  metrics.redisDurable.set(health.reachable && health.durabilityProblem === undefined ? 1 : 0);
  metrics.redisMemoryShare.set(health.memoryShare);
}

function reportRedis(state: RedisState, { placeOf }: Settings, logger: Logger): void {
  /** The setting to correct, with its place, and how to correct it. */
  const show = ({ setting, remedy }: Correction) => ({
    setting: `${formatKeys(['redis', setting])} (${placeOf(['redis', setting])})`,
    remedy,
  });
  switch (state.kind) {
    case 'silent':
      return logger.warn({ redis: state.redis, why: state.why, ...(state.correction && show(state.correction)) }, 'redis does not answer');
    case 'otherDatabase':
      return logger.warn({ redis: state.redis, ...show(state.correction) }, 'redis answers, but not with the database of its URL');
    case 'mayLosePushes':
      return logger.warn({ why: state.why }, 'redis answers, but may lose accepted pushes');
    case 'ready':
      return logger.info({}, 'redis answers');
  }
}
