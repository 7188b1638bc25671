/** Answers a sender who asks what became of its delivery: with the same proof as the delivery, and only about what this receiver was given. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { within } from '../../core/async/deadline.ts';
import { authenticate } from './authenticate.ts';
import type { Receiver } from './answer-delivery.ts';
import type { DeliveryIds } from './delivery-ids.ts';
import type { Delivery } from './providers/provider.ts';

/** What became of an event, as data for the sender; undefined if nothing is known of it any more, or if another receiver was given it. */
export type ReadReport = (eventId: string, receiver: string) => Promise<object | undefined>;

interface QuestionContext {
  readonly ids: DeliveryIds;
  readonly readReport: ReadReport;
  /** Counts a request of a receiver, as for a delivery. */
  readonly countRequest: (receiver: Receiver) => Promise<number>;
}

type QuestionAnswer =
  | { readonly status: 200; readonly report: object }
  | { readonly status: 401 | 404; readonly error: string }
  | { readonly status: 429; readonly retryAfterSeconds: number }
  | { readonly status: 503 };

/** The question: its headers, the token in its URL, and the id that the delivery was answered with. */
interface Question {
  readonly headers: Delivery['headers'];
  readonly token: string | undefined;
  readonly id: string;
}

/** The means of receivers that show results. */
export interface Results {
  readonly readReport: ReadReport;
  /** Reads the secret from which the ids of deliveries follow. */
  readonly readSecret: () => Promise<string>;
}

interface Params {
  receiver: string;
  token?: string;
  id: string;
}

const unknown = { status: 404, error: 'no delivery of this receiver has this id, or it is older than a week' } as const;
const unavailable = { status: 503 } as const;

/** Adds `GET /webhooks/NAME/deliveries/ID`, for senders, also below the token of a URL. `find`: the receiver of a request; `confirmWithinMs`: how long an answer may take. */
export function addQuestionRoutes(
  app: FastifyInstance,
  {
    find,
    confirmWithinMs,
    ...context
  }: QuestionContext & { readonly find: (request: FastifyRequest) => Receiver | undefined; readonly confirmWithinMs: number },
): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const receiver = find(request);
    if (receiver === undefined) return reply.code(404).send({ error: 'no receiver has this name' });
    const { token, id } = request.params as Params;
    const asked = answerQuestion({ headers: request.headers, token, id }, receiver, context).catch(() => unavailable);
    const answered = (await within(confirmWithinMs, asked)) ?? unavailable;
    reply.code(answered.status).header('cache-control', 'no-store');
    switch (answered.status) {
      case 200:
        return reply.send(answered.report);
      case 429:
        return reply.header('retry-after', String(answered.retryAfterSeconds)).send({ error: 'too many requests' });
      case 503:
        return reply.header('retry-after', '5').send({ error: 'try again later' });
      case 401:
      case 404:
        return reply.send({ error: answered.error });
    }
  };
  for (const url of ['/webhooks/:receiver/deliveries/:id', '/webhooks/:receiver/:token/deliveries/:id']) app.get(url, answer);
}

/** Whoever is not authenticated learns nothing, not even whether the receiver answers such questions. A signature over the body is one over an empty body. */
async function answerQuestion(
  { headers, token, id }: Question,
  receiver: Receiver,
  { ids, readReport, countRequest }: QuestionContext,
): Promise<QuestionAnswer> {
  const result = await authenticate({ headers, body: Buffer.alloc(0) }, token, receiver);
  if (result.kind === 'unavailable') return { status: 503 };
  if (result.kind === 'refused') return { status: 401, error: 'unauthorized' };
  const retryAfterSeconds = await countRequest(receiver);
  if (retryAfterSeconds > 0) return { status: 429, retryAfterSeconds };
  if (!receiver.showsResults)
    return { status: 404, error: 'this receiver does not say what became of a delivery: showResults of the configuration' };
  const eventId = await ids.read(id, receiver.name);
  const report = eventId === undefined ? undefined : await readReport(eventId, receiver.name);
  return report === undefined ? unknown : { status: 200, report };
}
