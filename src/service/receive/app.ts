/** The public listener, which serves webhooks and nothing else. It is built here, and started in `compose`. */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { within } from '../../core/async/deadline.ts';
import { withoutSchemas } from '../../core/async/without-schemas.ts';
import type { PushEvent } from '../../core/model/push-event.ts';
import { type Answer, answerDelivery, boundWaiting, type DeliveryContext, type Receiver, toResponseBody } from './answer-delivery.ts';
import { addQuestionRoutes, type Results } from './answer-question.ts';
import { createDeliveryIds } from './delivery-ids.ts';
import { matchesAny } from './providers/headers.ts';
import { type AddToCount, createRateLimit } from './rate-limit.ts';
import { createReporter, type ReportOptions } from './report-delivery.ts';
import { traceDelivery } from './trace-delivery.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { acceptAnyContentType, type ListenLimits, serverOptions } from './request-limits.ts';

export interface ReceiveOptions extends Omit<DeliveryContext, 'startWaiting' | 'countRequest'>, ReportOptions {
  /** What receivers that show results need; absent if none does. */
  readonly results?: Results | undefined;
  /** The traces of deliveries; absent if traces are off. */
  readonly tracing?: Tracing | undefined;
  readonly receivers: readonly Receiver[];
  readonly limits: ListenLimits;
  /** The rate limit of receivers that configure none. */
  readonly requestsPerMinute: number;
  readonly addToCount: AddToCount;
  /** The time within which every delivery is answered, authentication and Redis included. Senders give up on slow webhooks, or disable them. */
  readonly confirmWithinMs: number;
  /** The limit for the memory of all request bodies that are being read, in bytes; 128 MiB by default. */
  readonly readingBytes?: number;
}

interface Params {
  receiver: string;
  token?: string;
}

/** How long the answer to a delivery waits for its ids, which takes one command to Redis every ten seconds. */
const idsWithinMs = 300;

/** The Fastify app of the public listener. */
export async function buildReceiveApp(options: ReceiveOptions): Promise<FastifyInstance> {
  const app = Fastify({
    ...serverOptions(options.limits),
    schemaController: withoutSchemas,
    // Fastify's request log is off because paths may contain tokens. Our log names the receiver.
    logger: false,
    // Query strings are not parsed, because they are never used.
    routerOptions: { maxParamLength: 512, querystringParser: () => ({}) },
    forceCloseConnections: 'idle',
    // Deliveries that arrive during the shutdown are stored until the last connection is closed.
    return503OnClosing: false,
    // Fastify's own answer to a path that cannot be decoded would repeat the path, which may contain a token.
    frameworkErrors: (error, request, reply) => answerError(error, request, reply, options),
  });
  app.server.maxConnections = options.limits.maxConnections;
  const reporter = createReporter(options);
  const receivers = new Map(options.receivers.map((receiver) => [receiver.name, receiver]));
  const find = (request: FastifyRequest) => receivers.get((request.params as Params).receiver);
  const { count } = createRateLimit({ addToCount: options.addToCount, now: () => options.now().getTime() });
  const perMinute = (receiver: Receiver) => receiver.requestsPerMinute ?? options.requestsPerMinute;
  const countRequest = (receiver: Receiver) => count(receiver.name, perMinute(receiver));
  const context = { ...options, countRequest, startWaiting: boundWaiting() };

  const ids = createDeliveryIds(options.results?.readSecret ?? (() => Promise.reject(new Error('no receiver shows results'))));
  const idsOf = async (accepted: readonly PushEvent[], { name }: Receiver) => {
    const found = await Promise.all(accepted.map(async ({ id }) => [id, await ids.of(id, name)] as const)).catch(() => []);
    return new Map(found);
  };
  /** A delivery that is stored is not answered late for the sake of its ids. */
  const idsSoon = (accepted: readonly PushEvent[], receiver: Receiver) => within(idsWithinMs, idsOf(accepted, receiver));

  acceptAnyContentType(app, options.readingBytes);
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found' }));
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, options));
  app.addHook('onResponse', (request, reply, done) => {
    const receiver = find(request);
    if (receiver !== undefined && request.method === 'POST') reporter.answered(receiver, reply.statusCode, reply.elapsedTime / 1_000);
    done();
  });

  const refuseUnknown = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    if (find(request) === undefined) answerUnknown(reply);
    else done();
  };
  const deliver = async (request: FastifyRequest, reply: FastifyReply) => {
    const receiver = find(request);
    if (receiver === undefined) return answerUnknown(reply);
    const delivery = { headers: request.headers, body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0) };
    const decide = async () => {
      // The write to Redis may still happen after the deadline. If the sender repeats the delivery, the same id makes it one event.
      const answer = (await within(
        options.confirmWithinMs,
        answerDelivery(delivery, (request.params as Params).token, receiver, context),
      )) ?? { status: 503, why: `no answer within ${options.confirmWithinMs} ms` };
      reporter.decided(receiver, answer, request.id);
      return answer;
    };
    const { tracing } = options;
    const answer = await (tracing === undefined ? decide() : traceDelivery(tracing, receiver, request.headers, decide));
    return send(answer, reply, receiver.showsResults && 'accepted' in answer ? await idsSoon(answer.accepted, receiver) : undefined);
  };
  const answerOptions = (request: FastifyRequest, reply: FastifyReply) => {
    const receiver = find(request);
    const { token } = request.params as Params;
    if (receiver === undefined) return answerUnknown(reply);
    const isWrong = token !== undefined && !receiver.unauthenticated && !matchesAny(token, receiver.secrets());
    if (isWrong) return reply.code(401).send({ error: 'unauthorized' });
    const answer = answerHandshake(request.headers, perMinute(receiver));
    return answer.status === 200 ? reply.headers(answer.headers).send() : reply.code(400).send({ error: answer.error });
  };
  const { results } = options;
  const { confirmWithinMs } = options;
  if (results !== undefined) addQuestionRoutes(app, { find, ids, countRequest, readReport: results.readReport, confirmWithinMs });
  for (const url of ['/webhooks/:receiver', '/webhooks/:receiver/:token']) {
    app.post(url, { onRequest: refuseUnknown }, deliver);
    app.options(url, { onRequest: refuseUnknown, bodyLimit: 1 }, answerOptions);
  }
  return app;
}

function answerUnknown(reply: FastifyReply): FastifyReply {
  return reply.code(404).send({
    error: 'no receiver has this name: compare the URL of the webhook, /webhooks/NAME, with receivers[].name of the configuration',
  });
}

function send(answer: Answer, reply: FastifyReply, deliveryIds?: ReadonlyMap<string, string>): FastifyReply {
  switch (answer.status) {
    case 401:
      return reply.code(401).send({ error: 'unauthorized' });
    case 413:
      return reply.code(413).send({ error: answer.why });
    case 429:
      return reply.code(429).header('retry-after', String(answer.retryAfterSeconds)).send({ error: 'too many requests' });
    case 503:
      return reply.code(503).header('retry-after', '5').send({ error: 'try again later' });
    default:
      return reply.code(answer.status).send(toResponseBody(answer, deliveryIds));
  }
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, { logger }: ReceiveOptions): void {
  const status = error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  if (reply.sent) return;
  if (status === 503) return void reply.code(503).header('retry-after', '5').send({ error: 'try again later' });
  if (status >= 500) logger.error({ err: error, requestId: request.id }, 'delivery failed');
  const message = { 413: 'the body is too large' }[status] ?? (status >= 500 ? 'internal error' : 'bad request');
  reply.code(status).send({ error: message });
}

/** The answer to an OPTIONS request. */
export type HandshakeAnswer =
  | { readonly status: 200; readonly headers: Readonly<Record<string, string>> }
  | { readonly status: 400; readonly error: string };

/** Matches an origin: a DNS name, as the CloudEvents specification demands. Its characters are harmless in a header of our response. */
const origin = /^[\w.:/*-]{1,255}$/;

/**
 * The handshake that CloudEvents senders (Azure Event Grid among them) require before they deliver: allows the requesting origin to POST, with our rate limit
 * (requests per minute) if it asks for a rate. The callback that the sender may name is never called. A handshake proves nothing about the sender: deliveries are
 * authenticated as usual.
 * https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md#4-abuse-protection
 */
function answerHandshake(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  requestsPerMinute: number,
): HandshakeAnswer {
  const asking = headers['webhook-request-origin'];
  if (typeof asking !== 'string' || !origin.test(asking))
    return { status: 400, error: 'the header WebHook-Request-Origin is missing or not a DNS name' };
  return {
    status: 200,
    headers: {
      allow: 'POST',
      'webhook-allowed-origin': asking,
      ...(headers['webhook-request-rate'] !== undefined && { 'webhook-allowed-rate': String(requestsPerMinute) }),
    },
  };
}
