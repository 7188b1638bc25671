/** Serves the dashboard: pages, forms, the stream that makes pages reload, and static files. */
import { createHash } from 'node:crypto';
import { constants } from 'node:zlib';
import fastifyCompress from '@fastify/compress';
import fastifyCookie, { type CookieSerializeOptions } from '@fastify/cookie';
import fastifyFormbody from '@fastify/formbody';
import fastifyRateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLocalHost } from '../service/api/authenticate.ts';
import { defined } from '../core/model/defined.ts';
import { describeError } from '../core/model/errors.ts';
import type { Logger } from '../service/telemetry/logger.ts';
import { addActionRoutes } from './action-routes.ts';
import { addressOf, ApiFailure } from './api-client.ts';
import { addBaseActionRoutes } from './base-action-routes.ts';
import { addAssets } from './assets.ts';
import { addLiveRoutes } from './live-routes.ts';
import { contentFor } from './rights.ts';
import { createLivePages, type LivePages, usualPacing } from './live-pages.ts';
import { addListFiles } from './list-files.ts';
import { addNotificationRoutes } from './notification-routes.ts';
import { addReplayRoutes } from './replay-routes.ts';
import type { OidcClient } from './oidc.ts';
import type { Query } from './page.ts';
import { pages } from './pages/index.ts';
import { isOwnForm, localPath } from './same-site.ts';
import { countedAs, identifySender, RepeatedHeader, sessionCookies } from './sender.ts';
import { addSignInRoutes } from './sign-in-routes.ts';
import { asLanguage } from './texts/choose.ts';
import { type DashboardMeans, queryOf, sendPage, sendProblem, startVisit, textsOf, viewerOf } from './visit.ts';

export interface DashboardOptions extends DashboardMeans {
  readonly oidc?: OidcClient | undefined;
  /** The address of the dashboard in browsers, without a path. */
  readonly publicUrl?: string | undefined;
  /** The maximum number of requests in a minute from one session, or from one address without a session. */
  readonly requestsPerMinute: number;
  readonly logger: Logger;
}

const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
/** The maximum size of a body in bytes. A form with 500 choices is about 100 KB. */
const bodyLimit = 262_144;
/** Pages repeat themselves: a tenth of their size is sent. The highest level of Brotli takes sixty times as long as this one. */
const compression = {
  encodings: ['br', 'gzip'] satisfies ('br' | 'gzip')[],
  brotliOptions: { params: { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT, [constants.BROTLI_PARAM_QUALITY]: 4 } },
};
const yearSeconds = 31_536_000;

function cookieOptions(publicUrl: string | undefined): CookieSerializeOptions {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: publicUrl?.startsWith('https:') === true };
}

/** Adds all routes of the dashboard to the app. */
export async function addDashboard(app: FastifyInstance, options: DashboardOptions): Promise<void> {
  const { identification, oidc, publicUrl, requestsPerMinute, logger } = options;
  const cookie = cookieOptions(publicUrl);
  app.removeAllContentTypeParsers();
  await app.register(fastifyCompress, compression);
  await app.register(fastifyCookie);
  await app.register(fastifyFormbody, { bodyLimit });
  await app.register(fastifyRateLimit, {
    max: requestsPerMinute,
    timeWindow: 60_000,
    keyGenerator: (request) => countedAs(request, identification),
  });

  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...securityHeaders, 'cache-control': 'private, no-cache' });
    // Checked here, because the API of another process does not see the host in the browser's request.
    if (identification.kind === 'none' && !isLocalHost(request.headers.host))
      return reply.code(403).type('text/plain').send('without authentication, the dashboard answers only requests to localhost\n');
    if (request.method === 'POST' && !isOwnForm(request.headers)) {
      const texts = textsOf(request);
      return sendProblem(
        request,
        reply,
        { texts, cluster: options.settings.cluster, canSignOut: false },
        { status: 403, message: texts.foreignForm },
      );
    }
  });
  app.addHook('onSend', (request, reply, payload, sent) => sent(null, unlessKnown(request, reply, payload)));
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, options));
  app.setNotFoundHandler((request, reply) => {
    const texts = textsOf(request);
    return sendProblem(
      request,
      reply,
      { texts, cluster: options.settings.cluster, canSignOut: false },
      { status: 404, message: texts.noPage },
    );
  });

  for (const page of pages)
    app.get<{ Params: Record<string, string> }>(page.path, async (request, reply) => {
      const { viewer, ...visit } = await startVisit(request, options);
      const call = { ...visit, params: request.params, query: queryOf(request.query), settings: options.settings };
      const shown = await contentFor(await page.show(call), visit);
      if ('redirect' in shown) return reply.redirect(shown.redirect, 303);
      await options.turns.next();
      return sendPage(request, reply, viewer, { ...defined({ section: page.section }), ...shown });
    });
  const live = createLivePages({ ...usualPacing, share: usualPacing.share / options.transport.costs });
  addLiveRoutes(app, options, live);
  addListFiles(app, options);
  addActionRoutes(app, options);
  addReplayRoutes(app, options);
  addNotificationRoutes(app, options);
  addBaseActionRoutes(app, options);
  if (identification.kind === 'session') {
    const triesPerMinute = Math.min(60, requestsPerMinute);
    addSignInRoutes(app, { ...options, identification, oidc, publicUrl, cookie, triesPerMinute, logger });
  }
  app.get('/language', (request, reply) => {
    const query = queryOf(request.query);
    const language = asLanguage(query.one('to'));
    if (language !== undefined) reply.setCookie('language', language, { ...cookie, maxAge: yearSeconds });
    return reply.redirect(localPath(query.one('back')), 303);
  });
  // A compressor would keep events back until it has enough of them.
  app.get('/stream', { compress: false }, (request, reply) => passStream(request, reply, options, live));
  addAssets(app);
}

/** Passes the stream of the API to the browser, until the browser disconnects. */
async function passStream(
  request: FastifyRequest,
  reply: FastifyReply,
  { transport, identification }: DashboardMeans,
  live: LivePages,
): Promise<FastifyReply> {
  const sender = await identifySender(request, identification);
  // An EventSource stops reconnecting after a 204: https://html.spec.whatwg.org/multipage/server-sent-events.html
  if (sender === undefined) return reply.code(204).send();
  const left = new AbortController();
  reply.raw.on('close', () => left.abort());
  const { status, body } = await transport.stream({ ...sender, method: 'GET', path: streamOf(queryOf(request.query)) }, left.signal);
  if (status !== 200) {
    left.abort();
    return reply.code(status === 401 ? 204 : 503).send();
  }
  return reply.type('text/event-stream').headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' }).send(live.follow(body));
}

/** The path of the API for the changes that a page follows. */
function streamOf(query: Query): string {
  const of = query.one('of');
  const given = { brief: 'true', namespace: query.one('namespace'), name: query.one('name') };
  return of === 'bases' ? addressOf('/bases/stream', given) : addressOf('/stream', { ...given, of });
}

/** Returns an empty payload with status 304 if the browser has the page already. */
function unlessKnown(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  if (request.method !== 'GET' || reply.statusCode !== 200 || typeof payload !== 'string' || reply.hasHeader('etag')) return payload;
  // Weak, because the compressed page has the same.
  const tag = `"${createHash('sha256').update(payload).digest('base64url').slice(0, 22)}"`;
  reply.header('etag', `W/${tag}`);
  if (request.headers['if-none-match']?.replace(/^W\//, '') !== tag) return payload;
  reply.code(304);
  return '';
}

function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { identification, settings, publicUrl, logger }: DashboardOptions,
): FastifyReply {
  const viewer = viewerOf(request, { identification, settings });
  const { texts } = viewer;
  if (error instanceof ApiFailure) {
    if (error.status !== 401 || identification.kind !== 'session') return sendProblem(request, reply, viewer, error);
    for (const name of sessionCookies(request, identification.cookie)) reply.clearCookie(name, cookieOptions(publicUrl));
    return reply.redirect(request.method === 'GET' ? `/sign-in?back=${encodeURIComponent(request.url)}` : '/sign-in', 303);
  }
  if (error instanceof RepeatedHeader) return sendProblem(request, reply, viewer, { status: 401, message: error.message });
  const status = error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  if (status === 429) return sendProblem(request, reply, viewer, { status: 429, message: texts.tooMany });
  if (status < 500) return sendProblem(request, reply, viewer, { status, message: texts.badRequest });
  logger.error({ why: describeError(error) }, 'page of the dashboard cannot be shown');
  return sendProblem(request, reply, viewer, { status: 500, message: texts.unavailable });
}
