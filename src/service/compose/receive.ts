/** The role `receive`: stores the pushes of webhooks in Redis. It depends only on Redis. */
import type { FastifyInstance } from 'fastify';
import type { PushEvent } from '../../core/model/push-event.ts';
import { addressOf, closeListener, drainListener, openListener } from '../operations/listener.ts';
import type { Foundation, Part } from './foundation.ts';
import type { RedisAccess } from './redis.ts';
import { refusalOf } from '../queue/redis-state.ts';
import { createDeliveryTimes } from '../queue/delivery-times.ts';
import { createIgnoredLog } from '../queue/ignored-log.ts';
import { createPushQueue, type QueueAccess } from '../queue/producer.ts';
import { createEventReader } from '../queue/read-events.ts';
import { createSharedSecret } from '../queue/shared-secret.ts';
import { broughtIn, reportOf } from '../queue/delivery-report.ts';
import type { Results } from '../receive/add-question-routes.ts';
import { publishReceivers } from '../queue/receiver-list.ts';
import { createScanJobs } from '../queue/scan-jobs.ts';
import { createScanWaits } from '../queue/scan-waits.ts';
import { createRequestCounts } from '../queue/shared-limits.ts';
import { settingError } from '../config/config-error.ts';
import type { Config } from '../config/settings.ts';
import { minSecretLength, type SecretNews, watchSecrets } from '../config/secrets.ts';
import type { Logger } from '../telemetry/logger.ts';
import { buildReceiveApp } from '../receive/app.ts';
import type { ListenLimits } from '../receive/request-limits.ts';
import { openReceivers } from './receivers.ts';
import { crowdedShare } from '../queue/trim-redis.ts';

/** Builds the role `receive`. `onStoring`: called for each push in the turn of the event loop that sends it to Redis. */
export function composeReceive(
  foundation: Foundation,
  redis: RedisAccess,
  onStoring: () => void,
): Part & { address(): string | undefined } {
  const { settings, aliases, logger, metrics, tracing, turns } = foundation;
  const { config } = settings;
  const onError = (error: Error) => logger.debug({ err: error }, 'push queue error');
  const { confirmWithin } = config.listen;
  const access = { redis: redis.connection, prefix: config.redis.prefix, onError };
  const queue = createPushQueue(access, config.redis.minReplicas, confirmWithin, onStoring);
  const scanWaits = createScanWaits(access);
  const storeScans = createScanJobs(access, {
    minReplicas: config.redis.minReplicas,
    confirmWithinMs: confirmWithin,
    now: () => new Date(),
  });
  const storeAndFollow = async (events: readonly PushEvent[]) => {
    const stored = await queue.add(events);
    const waiting = stored.filter(({ waitsUntil }) => waitsUntil !== undefined);
    // An error here does not fail the delivery: the pushes are stored, and at worst start when they have waited for long enough.
    await scanWaits.follow(waiting).catch(onError);
    return stored;
  };
  const ignoredLog = createIgnoredLog({
    redis: redis.connection,
    prefix: config.redis.prefix,
    aliases,
    canWrite: () => redis.health().reachable && redis.health().memoryShare <= crowdedShare,
    onDropped: ({ receiver, provider }, why, count) => metrics.ignoredNotRecorded.inc({ receiver, provider, why }, count),
  });
  const deliveryTimes = createDeliveryTimes({ redis: redis.connection, prefix: config.redis.prefix, now: Date.now });
  let app: FastifyInstance | undefined;
  let secrets: { stop(): void } | undefined;
  let published: { stop(): Promise<void> } | undefined;
  return {
    checks: () => [{ name: 'public listener', ok: app?.server.listening === true, required: true }],
    address: () => (app === undefined ? undefined : addressOf(app)),
    async start() {
      const { receivers, warm } = openReceivers(foundation);
      void warm();
      for (const receiver of settings.secrets.guessable()) {
        logger.warn({ receiver, atLeast: minSecretLength }, 'a secret is short enough to be guessed');
      }
      secrets = watchSecrets(settings.secrets.reread, (news) => reportSecret(news, logger));
      app = await buildReceiveApp({
        receivers,
        limits: limitsOf(config.listen),
        confirmWithinMs: confirmWithin,
        requestsPerMinute: config.listen.requestsPerMinute,
        addToCount: createRequestCounts(redis.connection, config.redis.prefix),
        aliases,
        storePushes(events) {
          redis.noteStored(events.length);
          return turns.first(() => storeAndFollow(events));
        },
        endScan: scanWaits.end,
        storeScans,
        recordIgnored: ({ name, provider, registryOverride }, ignored) =>
          ignoredLog.add({ receiver: name, provider: provider.id, registryOverride, ignored, receivedAt: new Date() }),
        noteAnswer: ({ name }, status) => deliveryTimes.note(name, status),
        tracing,
        ...(receivers.some(({ showsResults }) => showsResults) && { results: resultsOf(access, config) }),
        refusal: () => refusalOf(redis.health(), config.redis.durability),
        now: () => new Date(),
        logger,
        metrics,
      });
      await openListener(app, config.listen, (key, message) => settingError(settings, ['listen', key], message));
      published = publishReceivers(redis.connection, config.redis.prefix, config.receivers);
    },
    async stop() {
      secrets?.stop();
      if (app === undefined) return;
      await drainListener(app.server);
      await closeListener(app, confirmWithin + 1_000);
      await Promise.all([ignoredLog.stop(), deliveryTimes.stop(), published?.stop()]);
    },
  };
}

/** What the sender of a delivery may read of it, with the page of each policy if the dashboard has an address. */
function resultsOf(access: QueueAccess, { redis: { prefix }, dashboard: { publicUrl } }: Config): Results {
  const events = createEventReader(access);
  return {
    readSecret: createSharedSecret(access.redis, prefix, 'delivery'),
    async readReport(id, receiver) {
      const record = await events.get(id);
      if (record?.event.receiver !== receiver) return undefined;
      const brought = await Promise.all(broughtIn(record).map(async (other) => [other, await events.get(other)] as const));
      return reportOf(record, new Map(brought.flatMap(([other, found]) => (found === undefined ? [] : [[other, found]]))), publicUrl);
    },
  };
}

function reportSecret({ kind, ...fields }: SecretNews, logger: Logger): void {
  if (kind === 'changed') logger.info(fields, 'a secret has changed');
  else logger.warn(fields, 'a secret cannot be read again, the old value stays in use');
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
