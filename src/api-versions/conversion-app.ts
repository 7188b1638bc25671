/** The conversion listener: ConversionReviews of the API server, over TLS. Built here, listened elsewhere. */
import Fastify, { type FastifyInstance } from 'fastify';
import type { Server } from 'node:https';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { answerReview, type ConvertReview } from './answer-review.ts';

export interface ConversionOptions {
  readonly certificate: string;
  readonly key: string;
  readonly bodyLimitBytes: number;
  readonly convertReview: ConvertReview;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export type ConversionApp = FastifyInstance<Server>;

/** The Fastify app of the conversion listener; `app.server.setSecureContext` changes its certificate. */
export function buildConversionApp({ certificate, key, bodyLimitBytes, convertReview, logger, metrics }: ConversionOptions): ConversionApp {
  const app = Fastify({
    https: { cert: certificate, key, minVersion: 'TLSv1.2' },
    bodyLimit: bodyLimitBytes,
    logger: false,
    // The API server gives up after 30 s.
    requestTimeout: 30_000,
    // Longer than the API server keeps a connection (90 s): it does not repeat a POST whose connection we close just then, and its user's list fails.
    keepAliveTimeout: 120_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  });
  app.server.on('tlsClientError', (error: Error) => logger.debug({ err: error }, 'conversion client refused'));
  // Own parsing: Fastify's refuses a whole list for one object with an annotation called __proto__.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found' }));
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
    if (status >= 500) logger.error({ err: error }, 'conversion failed');
    else logger.warn({ err: error, bodyLimitBytes }, 'conversion refused');
    const message = status === 413 ? `the review is longer than conversion.bodyLimitBytes (${bodyLimitBytes})` : 'cannot be converted';
    return reply.code(status).send({ error: message });
  });

  app.get('/livez', (_request, reply) => reply.type('text/plain').send('ok\n'));
  app.post('/convert', (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const began = performance.now();
    const { status, text, to, objects, problem } = answerReview(body, convertReview);
    metrics.conversionSeconds.observe({ to }, (performance.now() - began) / 1_000);
    const result = problem === undefined ? 'converted' : 'refused';
    metrics.conversions.inc({ to, result }, objects);
    metrics.conversionReviews.inc({ to, result });
    if (problem !== undefined) logger.warn({ to, objects, why: problem }, 'conversion refused');
    return reply.code(status).type('application/json').send(text);
  });
  return app;
}
