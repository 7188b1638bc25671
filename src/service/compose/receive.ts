/** The role `receive`: stores the pushes of webhooks in Redis. It depends only on Redis. */
import type { FastifyInstance } from 'fastify';
import { addressOf, closeListener, drainListener, openListener } from '../operations/listener.ts';
import type { Foundation, Part } from './foundation.ts';
import { type Living, liveInOrder } from './life.ts';
import type { RedisAccess } from './redis.ts';
import { refusalOf } from '../queue/redis-state.ts';
import { createDeliveryTimes } from '../queue/delivery-times.ts';
import type { PushJob } from '../queue/jobs.ts';
import { createIgnoredLog } from '../queue/ignored-log.ts';
import { createPushQueue, type QueueAccess } from '../queue/producer.ts';
import { createReportReader } from '../queue/read-delivery-report.ts';
import { createEventReader } from '../queue/read-events.ts';
import { createSharedSecret } from '../queue/shared-secret.ts';
import { publishReceivers } from '../queue/receiver-list.ts';
import { createScanJobs } from '../queue/scan-jobs.ts';
import { createFollowedStore, createScanWaits } from '../queue/scan-waits.ts';
import { createRequestCounts } from '../queue/shared-limits.ts';
import { settingError } from '../config/config-error.ts';
import type { Config } from '../config/settings.ts';
import { minSecretLength, type SecretNews, watchSecrets } from '../config/secrets.ts';
import type { Logger } from '../telemetry/logger.ts';
import { buildReceiveApp, type ReceiveOptions } from '../receive/app.ts';
import type { ListenLimits } from '../receive/request-limits.ts';
import { openReceivers } from './receivers.ts';
import { crowdedShare } from '../queue/trim-redis.ts';

/** Builds the role `receive`. `onStoring`: called for each push in the turn of the event loop that sends it to Redis. */
export function composeReceive(
  foundation: Foundation,
  redis: RedisAccess,
  onStoring: (push: PushJob) => void,
): Part & { address(): string | undefined } {
  const { settings } = foundation;
  const { config } = settings;
  const stores = openStores(foundation, redis, onStoring);
  let app: FastifyInstance | undefined;
  const listener: Living = {
    name: 'public listener',
    async start() {
      app = await buildReceiveApp(receiveOptions(foundation, redis, stores));
      await openListener(app, config.listen, (key, message) => settingError(settings, ['listen', key], message));
    },
    async stop() {
      if (app === undefined) return;
      await drainListener(app.server);
      await closeListener(app, config.listen.confirmWithin + 1_000);
    },
  };
  const life = liveInOrder([
    { name: 'records of deliveries', stop: () => Promise.all([stores.ignoredLog.stop(), stores.deliveryTimes.stop()]) },
    secretsPart(foundation),
    listener,
    receiverListPart(foundation, redis),
  ]);
  return {
    ...life,
    checks: () => [{ name: listener.name, ok: app?.server.listening === true, required: true }],
    address: () => (app === undefined ? undefined : addressOf(app)),
  };
}

type Stores = ReturnType<typeof openStores>;

/** Opens what the role writes to Redis: pushes, scans, and what it knows of deliveries. */
function openStores({ settings, aliases, logger, metrics }: Foundation, redis: RedisAccess, onStoring: (push: PushJob) => void) {
  const { listen, redis: ofRedis } = settings.config;
  const { minReplicas, prefix } = ofRedis;
  const { connection } = redis;
  const onError = (error: Error) => logger.debug({ err: error }, 'push queue error');
  const access: QueueAccess = { redis: connection, prefix, onError };
  const queue = createPushQueue(access, minReplicas, listen.confirmWithin, onStoring);
  const scanWaits = createScanWaits(access);
  return {
    access,
    storePushes: createFollowedStore(queue.add, scanWaits, onError),
    endScan: scanWaits.end,
    storeScans: createScanJobs(access, { minReplicas, confirmWithinMs: listen.confirmWithin, now: () => new Date() }),
    ignoredLog: createIgnoredLog({
      redis: connection,
      prefix,
      aliases,
      canWrite: () => redis.health().reachable && redis.health().memoryShare <= crowdedShare,
      onDropped: ({ receiver, provider }, why, count) => metrics.ignoredNotRecorded.inc({ receiver, provider, why }, count),
    }),
    deliveryTimes: createDeliveryTimes({ redis: connection, prefix, now: Date.now }),
  };
}

/** Connects the public listener with the receivers of the configuration and the stores. */
function receiveOptions(foundation: Foundation, redis: RedisAccess, stores: Stores): ReceiveOptions {
  const { settings, aliases, logger, metrics, tracing, turns } = foundation;
  const { listen, redis: ofRedis, dashboard } = settings.config;
  const { access, storePushes, endScan, storeScans, ignoredLog, deliveryTimes } = stores;
  const { receivers, warm } = openReceivers(foundation);
  void warm();
  return {
    receivers,
    limits: limitsOf(listen),
    confirmWithinMs: listen.confirmWithin,
    requestsPerMinute: listen.requestsPerMinute,
    addToCount: createRequestCounts(redis.connection, ofRedis.prefix),
    aliases,
    storePushes(events) {
      redis.noteStored(events.length);
      return turns.first(() => storePushes(events));
    },
    endScan,
    storeScans,
    recordIgnored: ({ name, provider, registryOverride }, ignored) =>
      ignoredLog.add({ receiver: name, provider: provider.id, registryOverride, ignored, receivedAt: new Date() }),
    noteAnswer: ({ name }, status) => deliveryTimes.note(name, status),
    tracing,
    results: receivers.some(({ showsResults }) => showsResults)
      ? {
          readSecret: createSharedSecret(redis.connection, ofRedis.prefix, 'delivery'),
          readReport: createReportReader(createEventReader(access), dashboard.publicUrl),
        }
      : undefined,
    refusal: () => refusalOf(redis.health(), ofRedis.durability),
    now: () => new Date(),
    logger,
    metrics,
  };
}

/** The secrets of receivers, which are read again when their files change. */
function secretsPart({ settings: { secrets }, logger }: Foundation): Living {
  let watch: { stop(): void } | undefined;
  return {
    name: 'secrets of receivers',
    start() {
      for (const receiver of secrets.guessable()) {
        logger.warn({ receiver, atLeast: minSecretLength }, 'a secret is short enough to be guessed');
      }
      watch = watchSecrets(secrets.reread, (news) => reportSecret(news, logger));
    },
    stop: () => watch?.stop(),
  };
}

function reportSecret({ kind, ...fields }: SecretNews, logger: Logger): void {
  if (kind === 'changed') logger.info(fields, 'a secret has changed');
  else logger.warn(fields, 'a secret cannot be read again, the old value stays in use');
}

/** The list of receivers in Redis, for workers. */
function receiverListPart({ settings: { config } }: Foundation, { connection }: RedisAccess): Living {
  let published: { stop(): Promise<void> } | undefined;
  return {
    name: 'list of receivers',
    start: () => void (published = publishReceivers(connection, config.redis.prefix, config.receivers)),
    stop: () => published?.stop(),
  };
}

function limitsOf(listen: Config['listen']): ListenLimits {
  const { bodyLimitBytes, maxHeaderBytes, maxConnections, headersTimeout, requestTimeout, keepAliveTimeout } = listen;
  return {
    bodyLimitBytes,
    maxHeaderBytes,
    maxConnections,
    headersTimeoutMs: headersTimeout,
    requestTimeoutMs: requestTimeout,
    keepAliveTimeoutMs: keepAliveTimeout,
  };
}
