/** The public listener: webhooks and nothing else. Built here, listened elsewhere, tested by inject. */
import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { acceptAnyContentType } from './any-content-type.ts';
import { answerDelivery, toResponseBody, type Answer, type DeliveryContext, type Receiver } from './answer-delivery.ts';
import { matchesAny } from './providers/authorization-header.ts';

export interface ReceiveOptions extends DeliveryContext {
  readonly receivers: readonly Receiver[];
  readonly bodyLimitBytes: number;
  /** Per receiver and process; counted after authentication, so that a stranger cannot use it up. */
  readonly requestsPerMinute: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A sender may disable or block a hook that is slow: every request is answered within this. */
const deadlineMs = 450;

interface Params {
  receiver: string;
  token?: string;
}

/** The Fastify app of the public listener. */
export async function buildReceiveApp(options: ReceiveOptions): Promise<FastifyInstance> {
  const app = Fastify({
    bodyLimit: options.bodyLimitBytes,
    // Paths may hold tokens: Fastify's own request log is off, ours names the receiver.
    logger: false,
    routerOptions: { maxParamLength: 512 },
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
  });
  const lastMalformed = new Map<string, string>();
  const receivers = new Map(options.receivers.map((receiver) => [receiver.name, receiver]));
  const find = (request: FastifyRequest) => receivers.get((request.params as Params).receiver);

  acceptAnyContentType(app);
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found' }));
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, options));
  app.addHook('onResponse', (request, reply, done) => {
    const receiver = find(request);
    if (receiver !== undefined) {
      options.metrics.deliveries.inc({ receiver: receiver.name, provider: receiver.provider.id, status: String(reply.statusCode) });
      options.metrics.deliverySeconds.observe({ receiver: receiver.name }, reply.elapsedTime / 1_000);
    }
    done();
  });
  await app.register(rateLimit, { global: false });

  const route = {
    onRequest: (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
      if (find(request) === undefined) reply.code(404).send({ error: 'there is no such receiver' });
      else done();
    },
    preHandler: [
      (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
        const receiver = find(request);
        if (receiver !== undefined && isAuthentic(request, receiver)) done();
        else reply.code(401).send({ error: 'unauthorized' });
      },
      app.rateLimit({
        max: options.requestsPerMinute,
        timeWindow: 60_000,
        keyGenerator: (request) => (request.params as Params).receiver,
      }),
    ],
  };
  /** A sender that is misconfigured repeats itself: told once, until it says something else. */
  const reportMalformed = (why: string, receiver: Receiver, requestId: string) => {
    const level = lastMalformed.get(receiver.name) === why ? 'debug' : 'warn';
    lastMalformed.set(receiver.name, why);
    options.metrics.malformed.inc({ receiver: receiver.name, provider: receiver.provider.id });
    options.logger[level]({ receiver: receiver.name, provider: receiver.provider.id, why, requestId }, 'delivery not understood');
  };
  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    const receiver = find(request);
    if (receiver === undefined) return reply.code(404).send({ error: 'there is no such receiver' });
    const answer = await withDeadline(answerDelivery({ headers: request.headers, body: bodyOf(request) }, receiver, options));
    report(answer, receiver, options);
    if (answer.status === 200 && answer.malformed !== undefined) reportMalformed(answer.malformed, receiver, request.id);
    if (answer.status === 503) return reply.code(503).header('retry-after', '5').send({ error: 'try again later' });
    return reply.code(answer.status).send(toResponseBody(answer));
  };
  app.post('/webhooks/:receiver', route, handle);
  app.post('/webhooks/:receiver/:token', route, handle);
  return app;
}

/** The sender's own scheme, or, where the URL carries a token, the token alone. */
function isAuthentic(request: FastifyRequest, receiver: Receiver): boolean {
  if (receiver.unauthenticated) return true;
  const { token } = request.params as Params;
  if (token !== undefined) return matchesAny(token, receiver.secrets());
  return receiver.provider.verify({ headers: request.headers, body: bodyOf(request) }, receiver.secrets());
}

function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

/** The write may still happen after the deadline; the sender repeats the delivery, and the same id makes it one event. */
function withDeadline(answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve({ status: 503, why: `no confirmation from Redis within ${deadlineMs} ms` }), deadlineMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function report(answer: Answer, receiver: Receiver, { logger, metrics }: ReceiveOptions): void {
  const labels = { receiver: receiver.name, provider: receiver.provider.id };
  if (answer.status === 503) {
    logger.warn({ ...labels, why: answer.why }, 'delivery refused');
    return;
  }
  metrics.pushes.inc({ ...labels, result: 'accepted' }, answer.accepted.length);
  metrics.pushes.inc({ ...labels, result: 'ignored' }, answer.ignored.length);
  for (const { id, repository, tag, digest } of answer.accepted) {
    logger.debug({ ...labels, event: id, registry: repository.registry, repository: repository.path, tag, digest }, 'push accepted');
  }
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, { logger }: ReceiveOptions): void {
  const status = error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  if (status >= 500) logger.error({ err: error, requestId: request.id }, 'delivery failed');
  const message = { 413: 'the body is too large', 429: 'too many requests' }[status] ?? (status >= 500 ? 'internal error' : 'bad request');
  if (!reply.sent) reply.code(status).send({ error: message });
}
