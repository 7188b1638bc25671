/** The conversion listener, which receives ConversionReviews of the API server over TLS. It is built here and started by `compose-convert.ts`. */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Server } from 'node:https';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Logger } from '../service/telemetry/logger.ts';
import type { Metrics } from '../service/telemetry/metrics.ts';
import { boundConnections } from '../core/async/bound-connections.ts';
import { withoutSchemas } from '../core/async/without-schemas.ts';
import { createAdmission, tooLong, type AdmissionOptions, type AdmittedReview } from './admit-reviews.ts';
import { answerReview, type ConvertReview } from './answer-review.ts';

export interface ConversionOptions extends AdmissionOptions {
  readonly certificate: string;
  readonly key: string;
  readonly convertReview: ConvertReview;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export type ConversionApp = FastifyInstance<Server>;

/** Limited, because each connection takes the memory of a TLS session and of the beginning of a body. The API server opens one for each review in progress. */
const maxConnections = 500;
/** How long a conversion of many objects may block the event loop. */
const sliceMs = 10;
/** The minimum time between two warnings. Otherwise, anybody in the cluster could fill the log. */
const warningEveryMs = 10_000;

/** The TLS settings of the listener. They are also used for `setSecureContext` with a new certificate. */
export function secureContext({ certificate, key, clients }: Pick<ConversionOptions, 'certificate' | 'key' | 'clients'>) {
  return { cert: certificate, key, minVersion: 'TLSv1.2', ...(clients !== undefined && { ca: clients.ca }) } as const;
}

/** The Fastify app of the conversion listener; `app.server.setSecureContext` changes its certificate. */
export function buildConversionApp(options: ConversionOptions): ConversionApp {
  const { clients, bodyLimitBytes, convertReview, logger, metrics } = options;
  const app = Fastify({
    https: {
      ...secureContext(options),
      ...(clients !== undefined && { requestCert: true, rejectUnauthorized: true }),
      handshakeTimeout: 5_000,
      headersTimeout: 5_000,
      connectionsCheckingInterval: 1_000,
      // How much of a body is buffered before the review has a seat.
      highWaterMark: 16 * 1024,
    },
    bodyLimit: bodyLimitBytes,
    logger: false,
    schemaController: withoutSchemas,
    // The API server gives up after 30 s.
    requestTimeout: 30_000,
    // Longer than the API server keeps a connection (90 s). If we close one first, the API server does not repeat its POST, and the request of its user fails.
    keepAliveTimeout: 120_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  });
  boundConnections(app.server, maxConnections);
  app.server.on('tlsClientError', (error: Error) => logger.debug({ err: error }, 'conversion client refused'));
  const admit = createAdmission(options);
  const admitted = new WeakMap<FastifyRequest, AdmittedReview>();
  let warnedAt = -Infinity;
  const report = (fields: object) => {
    const now = performance.now();
    const isWarning = now - warnedAt >= warningEveryMs;
    if (isWarning) warnedAt = now;
    logger[isWarning ? 'warn' : 'debug'](fields, 'conversion refused');
  };

  // Fastify's own parser is removed: it would refuse a whole list for one object with an annotation called __proto__.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) refuse(reply, 404, 'not found');
    else done();
  });
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
    if (status >= 500) logger.error({ err: error }, 'conversion failed');
    else report({ err: error, bodyLimitBytes });
    return reply.code(status).send({ error: status === 413 ? tooLong(bodyLimitBytes) : 'cannot be converted' });
  });

  const admitRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    const admission = await admit(request, reply);
    if ('signal' in admission) return void admitted.set(request, admission);
    const { status, error } = admission;
    metrics.conversionReviews.inc({ to: 'other', result: 'refused' });
    report({ why: error, bodyLimitBytes });
    // The API server retries up to ten times.
    if (status === 429) reply.header('retry-after', '1');
    return refuse(reply, status, error);
  };
  app.get('/livez', (_request, reply) => reply.type('text/plain').send('ok\n'));
  app.post('/convert', { onRequest: admitRequest }, async (request, reply) => {
    const { signal, maxAnswerLength = 0 } = admitted.get(request) ?? {};
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const began = performance.now();
    const { status, text, to, objects, problem } = await answerReview(body, convertReview, { maxAnswerLength, pause: pauseUntil(signal) });
    metrics.conversionSeconds.observe({ to }, (performance.now() - began) / 1_000);
    const result = problem === undefined ? 'converted' : 'refused';
    metrics.conversions.inc({ to, result }, objects);
    metrics.conversionReviews.inc({ to, result });
    if (problem !== undefined) report({ to, objects, why: problem });
    return reply.code(status).type('application/json').send(text);
  });
  return app;
}

/** Answers and closes the connection, so that the rest of the request is not read. */
function refuse(reply: FastifyReply, status: number, error: string): FastifyReply {
  return reply.code(status).header('connection', 'close').send({ error });
}

/** Yields to other work from time to time, and throws when the client is gone. */
function pauseUntil(signal: AbortSignal | undefined): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < sliceMs) return;
    await yieldToOthers();
    signal?.throwIfAborted();
    began = performance.now();
  };
}
