/** The composition root: configuration → adapters → roles. Starts in this order, stops in the reverse one. */
import { hostname } from 'node:os';
import { within } from '../../core/async/deadline.ts';
import { defined } from '../../core/model/defined.ts';
import type { Role } from './roles.ts';
import type { ServiceWing, Wing } from './wing.ts';
import { type Foundation, openAccess, openTrustRoot, type Part } from './foundation.ts';
import { addressOf, closeListener, openListener } from '../operations/listener.ts';
import { composeApi } from './api.ts';
import { createKubeClient } from '../kube/client.ts';
import { publishProcess } from '../queue/process-list.ts';
import { readVersion } from '../config/version.ts';
import { tendHeap } from '../operations/heap.ts';
import { checkAuthorities } from './registries.ts';
import { createReporter } from '../doctor-facts/make-report.ts';
import { composeReceive } from './receive.ts';
import { openRedis, measureWaiting } from './redis.ts';
import { composeWork } from './work.ts';
import { settingError } from '../config/config-error.ts';
import { registryAliases, type Settings } from '../config/settings.ts';
import type { ServedCertificate } from '../doctor/finding.ts';
import { groupOf } from '../resources/resource-group.ts';
import { buildOperationsApp } from '../operations/app.ts';
import { openOutbound } from '../proxy/outbound.ts';
import type { Check } from '../telemetry/readiness.ts';
import type { Telemetry } from '../telemetry/open-telemetry.ts';
import { createMetrics } from '../telemetry/metrics.ts';

export interface Service {
  /** Starts the process. Resolves when the listeners are open; Redis, the API server and registries may become reachable later. */
  start(): Promise<void>;
  stop(deadlineMs: number): Promise<void>;
  /** The addresses of the listeners after the start. */
  addresses(): { readonly conversion?: string; readonly public?: string; readonly operations: string };
}

/** A failed check that makes the stopping process not ready, so that load balancers use others. */
const stopping: Check = { name: 'running', ok: false, required: true, detail: 'stopping; requests are still answered' };

/**
 * Builds the roles of one process. Nothing is opened before `start`, except connections that are established in the background.
 * Rejects with ConfigError without a usable kubeconfig, or with an invalid trust root.
 */
export async function compose(
  settings: Settings,
  roles: ReadonlySet<Role>,
  { logger, tracing }: Telemetry,
  allWings: readonly Wing[],
): Promise<Service> {
  const { config } = settings;
  const metrics = createMetrics();
  const foundation: Foundation = {
    settings,
    aliases: registryAliases(config),
    olderVersions: roles.has('work') ? (await groupOf(allWings)).olderVersions : [],
    logger,
    metrics,
    tracing,
    outbound: openOutbound(settings.proxies),
  };
  const loaded = await Promise.all(allWings.map(async ({ id, service }) => ({ id, wing: await service?.() })));
  const wings = loaded.flatMap(({ wing }) => wing ?? []);
  // Parts that may throw are built first, while nothing is open.
  const convert = roles.has('convert') ? await only(wings, 'convert')?.(foundation) : undefined;
  const access = roles.has('work') ? await openAccess(settings) : undefined;
  const cluster = access && createKubeClient(access);
  const trustRoot = cluster === undefined ? undefined : openTrustRoot(settings);
  if (cluster !== undefined) checkAuthorities(settings);
  const dashboard = roles.has('web') ? only(wings, 'web')?.(foundation, roles.has('work')) : undefined;
  const readConversionCertificate = certificateReader(foundation, wings);
  const redis = roles.has('receive') || roles.has('work') ? openRedis(settings, logger) : undefined;
  const waiting = redis && measureWaiting(redis, foundation);
  const work =
    cluster === undefined || redis === undefined
      ? undefined
      : composeWork(
          foundation,
          {
            client: cluster,
            failFastRedis: redis.connection,
            storesPushes: roles.has('receive'),
            redisHealth: redis.health,
            trustRoot,
            readServedCertificates: async () => {
              const read = await readConversionCertificate(undefined);
              return 'certificate' in read ? [{ name: 'certificate of the conversion webhook', pem: read.certificate }] : [];
            },
          },
          wings.flatMap((wing) => wing.work ?? []),
        );
  const receive = roles.has('receive') && redis !== undefined ? composeReceive(foundation, redis, () => work?.takeStored()) : undefined;
  const doctor =
    cluster === undefined || redis === undefined || work === undefined
      ? undefined
      : createReporter(foundation, {
          client: cluster,
          redis,
          ...work.view,
          readConversionCertificate: () => readConversionCertificate(convert?.address()),
        });
  const parts: Part[] = [receive, work].filter((part) => part !== undefined);
  // Without Redis, these gauges are removed, because they would look like an outage.
  if (redis === undefined) for (const gauge of [metrics.redisReachable, metrics.redisDurable, metrics.redisMemoryShare]) gauge.remove();
  let isStopping = false;
  let heap: { stop(): void } | undefined;
  let listed: ReturnType<typeof publishProcess> | undefined;
  const added = {
    features: loaded.flatMap(({ id, wing }) => (wing?.routes === undefined ? [] : [id])),
    causes: work?.causes ?? [],
    sight: work?.sight ?? [],
    noteActivity: work?.noteActivity,
    routes: work?.routes ?? wings.flatMap(({ routes }) => routes ?? []),
  };
  const api = redis && composeApi(foundation, redis, { access, policies: work?.policies, doctor, namespaces: work?.namespaces, added });
  const operations = buildOperationsApp({
    api: api?.options,
    dashboard,
    trustedProxies: config.operations.trustedProxies,
    checks: () => [...(isStopping ? [stopping] : []), ...[convert, redis, ...parts].flatMap((part) => part?.checks() ?? [])],
    metricsRegistry: metrics.registry,
    beforeScrape() {
      redis?.measure(metrics);
      for (const part of [convert, ...parts]) part?.measure?.();
    },
  });

  const service: Service = {
    async start() {
      // The conversion webhook starts first, because a starting API server cannot even list the policies until the webhook answers.
      await convert?.start();
      await openListener(operations, config.operations, (key, message) => settingError(settings, ['operations', key], message));
      for (const part of parts) await part.start();
      logger.info({ roles: [...roles], ...service.addresses() }, 'started');
      heap = tendHeap();
      const process = { name: hostname(), version: readVersion(), roles: [...roles], startedAt: new Date().toISOString() };
      listed = redis && publishProcess(redis.connection, config.redis.prefix, process);
    },
    async stop(deadlineMs) {
      isStopping = true;
      heap?.stop();
      const deadline = Date.now() + deadlineMs;
      for (const part of parts) await part.stop(Math.max(0, deadline - Date.now()));
      waiting?.stop();
      await within(Math.max(0, deadline - Date.now()), listed?.stop() ?? Promise.resolve());
      redis?.stop();
      await closeListener(operations);
      await api?.close();
      await convert?.stop(Math.max(0, deadline - Date.now()));
      await within(Math.max(0, deadline - Date.now()), foundation.outbound.close());
    },
    addresses() {
      const [conversion, pushes] = [convert?.address(), receive?.address()];
      return {
        ...defined({ conversion, public: pushes }),
        operations: addressOf(operations),
      };
    },
  };
  return service;
}

/** A part of the service that at most one wing has. */
function only<T extends keyof ServiceWing>(wings: readonly ServiceWing[], part: T): ServiceWing[T] | undefined {
  return wings.find((wing) => wing[part] !== undefined)?.[part];
}

function certificateReader(foundation: Foundation, wings: readonly ServiceWing[]): (own: string | undefined) => Promise<ServedCertificate> {
  const read = only(wings, 'readConversionCertificate');
  return async (own) => read?.(foundation, own) ?? { why: 'this product has no conversion webhook' };
}
