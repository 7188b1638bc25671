/** The operations listener: liveness, readiness, metrics, the API, and the dashboard. */
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { Registry } from '@prometheus-io/client';
import { addApi, type ApiOptions } from '../api/add-api.ts';
import { sendProblem } from '../api/problem.ts';
import { boundConnections } from '../../core/async/bound-connections.ts';
import { withoutSchemas } from '../../core/async/without-schemas.ts';
import { describeReadiness, type Check } from '../telemetry/readiness.ts';

/** Adds the routes of the dashboard to `scope`. The API is in `app`, unless it is in another process. */
export type AddDashboard = (scope: FastifyInstance, app: FastifyInstance) => Promise<void>;

export interface OperationsOptions {
  /** The last known state of each dependency of the process, without a request. */
  readonly checks: () => readonly Check[];
  readonly metricsRegistry: Registry;
  /** Called before each scrape of the metrics, to update gauges. */
  readonly beforeScrape: () => void;
  /** The addresses or networks of proxies whose header with the client's address is trusted. */
  readonly trustedProxies?: readonly string[];
  /** The options of the API; absent in a process without Redis. */
  readonly api?: ApiOptions | undefined;
  /** Adds the dashboard; absent in a process without the role `web`. */
  readonly dashboard?: AddDashboard | undefined;
}

/** The limit for connections. A browser keeps up to six, the process of a dashboard more. */
const maxConnections = 2_000;
/** The limit for the length of a part of a path, which may be the name of a policy. */
const maxParamLength = 253;

/** Answers a path that the router does not understand. */
function answerMalformed(url: string, reply: FastifyReply): FastifyReply {
  const detail = `the path is not understood: a part of it is badly encoded, or longer than ${maxParamLength} characters`;
  return url.startsWith('/api/') ? sendProblem(reply, 400, detail) : reply.code(400).type('text/plain').send(`${detail}\n`);
}

/** Builds the Fastify app of the operations listener. */
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
    schemaController: withoutSchemas,
    // Without trusted proxies, the header with the client's address is not read.
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    forceCloseConnections: true,
    // Slow requests are ended, because anybody in the cluster may connect.
    requestTimeout: 15_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
    routerOptions: { maxParamLength },
    frameworkErrors: (_error, request, reply) => void answerMalformed(request.url, reply),
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
