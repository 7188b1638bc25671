import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { within } from '../../core/async/deadline.ts';
import type { Receiver } from './answer-delivery.ts';
import { answerQuestion, type QuestionContext, type ReadReport } from './answer-question.ts';

/** What receivers need that show results. */
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
