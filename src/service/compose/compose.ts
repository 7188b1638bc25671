/** The composition root: configuration → adapters → roles. Starts in this order, stops in the reverse one. */
import { createTurns } from '../../core/async/turns.ts';
import { defined } from '../../core/model/defined.ts';
import type { Role } from './roles.ts';
import type { Wing } from './wing.ts';
import type { Foundation } from './foundation.ts';
import { liveInOrder } from './life.ts';
import { addressOf } from '../operations/listener.ts';
import { type ApiPart, composeApi } from './api.ts';
import { registryAliases, type Settings } from '../config/settings.ts';
import { groupOf } from '../resources/resource-group.ts';
import { buildOperationsApp } from '../operations/app.ts';
import { openOutbound } from '../proxy/outbound.ts';
import type { Check } from '../telemetry/readiness.ts';
import type { Telemetry } from '../telemetry/open-telemetry.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { type LoadedWing, type OpenRoles, openRoles } from './open-roles.ts';
import { processParts } from './process-life.ts';

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
  telemetry: Telemetry,
  wings: readonly Wing[],
): Promise<Service> {
  const foundation = await layFoundation(settings, roles, telemetry, wings);
  const { logger, metrics } = foundation;
  const loaded = await Promise.all(wings.map(async ({ id, service }) => ({ id, wing: await service?.() })));
  const open = await openRoles(foundation, roles, loaded);
  const { convert, redis, work, receive, dashboard } = open;
  // Without Redis, these gauges are removed, because they would look like an outage.
  if (redis === undefined) for (const gauge of [metrics.redisReachable, metrics.redisDurable, metrics.redisMemoryShare]) gauge.remove();
  let isStopping = false;
  const parts = [convert, receive, work].filter((part) => part !== undefined);
  const api = composeApiOf(foundation, loaded, open);
  const operations = buildOperationsApp({
    api: api?.options,
    dashboard,
    trustedProxies: settings.config.operations.trustedProxies,
    checks: () => [...(isStopping ? [stopping] : []), ...[convert, redis, receive, work].flatMap((part) => part?.checks() ?? [])],
    metricsRegistry: metrics.registry,
    beforeScrape() {
      redis?.measure(metrics);
      for (const part of parts) part.measure?.();
    },
  });
  const life = liveInOrder(processParts(foundation, roles, open, { operations, api }));
  const service: Service = {
    async start() {
      await life.start();
      logger.info({ roles: [...roles], ...service.addresses() }, 'started');
    },
    stop(deadlineMs) {
      isStopping = true;
      return life.stop(deadlineMs);
    },
    addresses: () => ({
      ...defined({ conversion: convert?.address(), public: receive?.address() }),
      operations: addressOf(operations),
    }),
  };
  return service;
}

async function layFoundation(
  settings: Settings,
  roles: ReadonlySet<Role>,
  { logger, tracing }: Telemetry,
  wings: readonly Wing[],
): Promise<Foundation> {
  return {
    settings,
    aliases: registryAliases(settings.config),
    olderVersions: roles.has('work') ? (await groupOf(wings)).olderVersions : [],
    logger,
    metrics: createMetrics(),
    tracing,
    turns: createTurns(),
    outbound: openOutbound(settings.proxies),
  };
}

/** Builds the API of the process, with what wings add to it; undefined without Redis. */
function composeApiOf(
  foundation: Foundation,
  loaded: readonly LoadedWing[],
  { redis, access, work, doctor }: OpenRoles,
): ApiPart | undefined {
  const added = {
    features: loaded.flatMap(({ id, wing }) => (wing?.routes === undefined ? [] : [id])),
    causes: work?.causes ?? [],
    sight: work?.sight ?? [],
    noteActivity: work?.noteActivity,
    routes: work?.routes ?? loaded.flatMap(({ wing }) => wing?.routes ?? []),
  };
  return redis && composeApi(foundation, redis, { access, policies: work?.policies, doctor, namespaces: work?.namespaces, added });
}
