/** The operations listener: liveness, readiness, metrics, the API, and the dashboard. */
import Fastify, { type FastifyInstance } from 'fastify';
import type { Registry } from '@prometheus-io/client';
import { addApi, type ApiOptions } from '../api/add-api.ts';
import { boundConnections } from '../../core/async/bound-connections.ts';
import { describeReadiness, type Check } from '../telemetry/readiness.ts';

/** Adds the routes of the dashboard to `scope`; the API is in `app`, unless it is in another process. */
export type AddDashboard = (scope: FastifyInstance, app: FastifyInstance) => Promise<void>;

export interface OperationsOptions {
  /** The last known state of each dependency of the process; returns at once. */
  readonly checks: () => readonly Check[];
  readonly metricsRegistry: Registry;
  /** Brings gauges up to date before a scrape. */
  readonly beforeScrape: () => void;
  /** The addresses or networks of proxies that say which client a request comes from. */
  readonly trustedProxies?: readonly string[];
  /** Absent in a process without Redis. */
  readonly api?: ApiOptions | undefined;
  /** Absent in a process without the role `web`. */
  readonly dashboard?: AddDashboard | undefined;
}

/** A browser keeps up to six, the process of a dashboard more. */
const maxConnections = 2_000;

/** The Fastify app of the operations listener. */
export function buildOperationsApp({
  checks,
  metricsRegistry,
  beforeScrape,
  trustedProxies = [],
  api,
  dashboard,
}: OperationsOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    // Without one, the header is not read.
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    forceCloseConnections: true,
    // Anybody in the cluster may connect: whoever sends a request slowly is not waited for.
    requestTimeout: 15_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
    // Names of policies are as long.
    routerOptions: { maxParamLength: 253 },
  });
  boundConnections(app.server, maxConnections);
  app.get('/livez', (_request, reply) => reply.type('text/plain').send('ok\n'));
  app.get('/readyz', (request, reply) => {
    const verbose = 'verbose' in (request.query as Record<string, unknown>);
    const { ready, text } = describeReadiness(checks(), verbose);
    return reply
      .code(ready ? 200 : 503)
      .type('text/plain')
      .send(text);
  });
  app.get('/metrics', async (_request, reply) => {
    beforeScrape();
    return reply.type(metricsRegistry.contentType).send(await metricsRegistry.metrics());
  });
  if (api !== undefined) addApi(app, api);
  if (dashboard !== undefined) app.register((scope) => dashboard(scope, app));
  return app;
}
