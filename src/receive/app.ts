/** The public listener: webhooks and nothing else. Built here, listened elsewhere, tested by inject. */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { within } from '../async/deadline.ts';
import type { IgnoredPush } from '../model/push-event.ts';
import { acceptAnyContentType } from './any-content-type.ts';
import { toResponseBody, type DeliveryContext, type Receiver } from './answer-delivery.ts';
import { answerRequest, type Answer } from './answer-request.ts';
import type { Delivery } from './providers/provider.ts';
import { answerHandshake } from './handshake.ts';
import { serverOptions, type ListenLimits } from './listen-limits.ts';
import { matchesAny } from './providers/authorization-header.ts';
import { createRateLimit, type AddToCount } from './rate-limit.ts';
import { createReporter, type ReportOptions } from './report-delivery.ts';
import { boundWaiting } from './waiting-deliveries.ts';

/** Records the ignored parts of a delivery. */
export type RecordIgnored = (receiver: Receiver, ignored: readonly IgnoredPush[]) => void;

/** Runs the answering of a delivery, and tells a trace of it. */
export type TraceDelivery = (receiver: Receiver, headers: Delivery['headers'], answer: () => Promise<Answer>) => Promise<Answer>;

export interface ReceiveOptions extends Omit<DeliveryContext, 'startWaiting'>, ReportOptions {
  /** Records what an authentic delivery was ignored for; returns at once and never throws. */
  readonly recordIgnored: RecordIgnored;
  readonly trace?: TraceDelivery | undefined;
  readonly receivers: readonly Receiver[];
  readonly limits: ListenLimits;
  /** Of each receiver that says nothing else. */
  readonly requestsPerMinute: number;
  readonly addToCount: AddToCount;
  /** Every delivery is answered within this, authentication and Redis included: a sender gives up on a slow hook, or disables it. */
  readonly confirmWithinMs: number;
  /** How much memory all bodies that are being read may take together; 128 MiB unless given. */
  readonly readingBytes?: number;
}

interface Params {
  receiver: string;
  token?: string;
}

/** The Fastify app of the public listener. */
export async function buildReceiveApp(options: ReceiveOptions): Promise<FastifyInstance> {
  const app = Fastify({
    ...serverOptions(options.limits),
    // Paths may hold tokens: Fastify's own request log is off, ours names the receiver.
    logger: false,
    // Nothing of a query is ever used, so none is parsed.
    routerOptions: { maxParamLength: 512, querystringParser: () => ({}) },
    forceCloseConnections: 'idle',
    // Until the last connection is closed we can still store what it says.
    return503OnClosing: false,
    // Its own answer to a path that cannot be decoded repeats the path.
    frameworkErrors: (error, request, reply) => answerError(error, request, reply, options),
  });
  app.server.maxConnections = options.limits.maxConnections;
  const reporter = createReporter(options);
  const receivers = new Map(options.receivers.map((receiver) => [receiver.name, receiver]));
  const find = (request: FastifyRequest) => receivers.get((request.params as Params).receiver);
  const { take } = createRateLimit({ addToCount: options.addToCount, now: () => options.now().getTime() });
  const perMinute = (receiver: Receiver) => receiver.requestsPerMinute ?? options.requestsPerMinute;
  const takeTurn = (receiver: Receiver) => take(receiver.name, perMinute(receiver));
  const context = { ...options, takeTurn, startWaiting: boundWaiting() };

  acceptAnyContentType(app, options.readingBytes);
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found' }));
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, options));
  app.addHook('onResponse', (request, reply, done) => {
    const receiver = find(request);
    if (receiver !== undefined && request.method === 'POST') reporter.answered(receiver, reply.statusCode, reply.elapsedTime / 1_000);
    done();
  });

  const refuseUnknown = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    if (find(request) === undefined) reply.code(404).send({ error: 'there is no such receiver' });
    else done();
  };
  const deliver = async (request: FastifyRequest, reply: FastifyReply) => {
    const receiver = find(request);
    if (receiver === undefined) return reply.code(404).send({ error: 'there is no such receiver' });
    const delivery = { headers: request.headers, body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0) };
    const decide = async () => {
      // The write may still happen after the deadline; the sender repeats the delivery, and the same id makes it one event.
      const answer = (await within(
        options.confirmWithinMs,
        answerRequest(delivery, (request.params as Params).token, receiver, context),
      )) ?? { status: 503, why: `no answer within ${options.confirmWithinMs} ms` };
      reporter.decided(receiver, answer, request.id);
      if ('ignored' in answer && answer.ignored.length > 0) options.recordIgnored(receiver, answer.ignored);
      return answer;
    };
    return send(await (options.trace?.(receiver, request.headers, decide) ?? decide()), reply);
  };
  const shakeHands = (request: FastifyRequest, reply: FastifyReply) => {
    const receiver = find(request);
    const { token } = request.params as Params;
    if (receiver === undefined) return reply.code(404).send({ error: 'there is no such receiver' });
    const isWrong = token !== undefined && !receiver.unauthenticated && !matchesAny(token, receiver.secrets());
    if (isWrong) return reply.code(401).send({ error: 'unauthorized' });
    const answer = answerHandshake(request.headers, perMinute(receiver));
    return answer.status === 200 ? reply.headers(answer.headers).send() : reply.code(400).send({ error: answer.error });
  };
  for (const url of ['/webhooks/:receiver', '/webhooks/:receiver/:token']) {
    app.post(url, { onRequest: refuseUnknown }, deliver);
    app.options(url, { onRequest: refuseUnknown, bodyLimit: 1 }, shakeHands);
  }
  return app;
}

function send(answer: Answer, reply: FastifyReply): FastifyReply {
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
      return reply.code(answer.status).send(toResponseBody(answer));
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
