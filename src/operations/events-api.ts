/** `/api/events` on the operations listener: every push and its results, for those who may see them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { describeError } from '../model/errors.ts';
import { parseImageReference, formatRepository, type RegistryAliases } from '../model/image-reference.ts';
import type { Position } from '../queue/read-events.ts';
import type { Logger } from '../telemetry/logger.ts';
import { answerDoctor, type Doctor, shareReports } from './doctor-api.ts';
import { type Access, AccessError, createAuthenticate, isLocalHost, type OperationsAuth, refusePost } from './authenticate.ts';
import { eventOutcomes } from './event-view.ts';
import { answerNamespace, type SelectedNamespaces } from './namespaces-api.ts';
import { listEvents, NotReplayable, readEvent, replayEvent, type EventPorts } from './events.ts';

export interface ApiOptions extends EventPorts {
  readonly auth: OperationsAuth;
  readonly aliases: RegistryAliases;
  /** Why nothing can be stored at present, or undefined. */
  readonly refusal: () => string | undefined;
  /** Absent in a process without the role `work`. */
  readonly doctor?: Doctor | undefined;
  /** Absent in a process without the role `work`. */
  readonly namespaces?: SelectedNamespaces | undefined;
  readonly logger: Logger;
}

const position = z.string().transform((text, context): Position => {
  const [, at, id] = /^(\d{1,15})-([0-9a-zA-Z_-]{1,128})$/.exec(text) ?? [];
  if (at !== undefined && id !== undefined) return { at: Number(at), id };
  context.addIssue({ code: 'custom', message: 'is not the "next" of an answer' });
  return z.NEVER;
});
const policyName = z.string().transform((text, context) => {
  const [, namespace, name] = /^([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})$/.exec(text) ?? [];
  if (namespace !== undefined && name !== undefined) return { namespace, name };
  context.addIssue({ code: 'custom', message: 'is NAMESPACE/NAME' });
  return z.NEVER;
});
const time = z.iso.datetime({ offset: true, error: 'is a time such as 2026-03-01T12:00:00Z' }).transform((text) => Date.parse(text));
const query = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  repository: z.string().min(1).max(512).optional(),
  outcome: z.enum(eventOutcomes, { error: `one of ${eventOutcomes.join(', ')}` }).optional(),
  policy: policyName.optional(),
  since: time.optional(),
  before: position.optional(),
});
const namespaceParams = z.object({ namespace: z.string().regex(/^[a-z0-9-]{1,63}$/) });
const params = z.object({ id: z.string().regex(/^[0-9a-zA-Z_-]{1,128}$/) });

/** Adds the routes below `/api`. */
export function addEventsApi(app: FastifyInstance, options: ApiOptions): void {
  const authenticate = createAuthenticate(options.auth, () => options.now().getTime());
  const doctor = options.doctor && shareReports(options.doctor, () => options.now().getTime());
  const accesses = new WeakMap<FastifyRequest, Access>();
  const accessOf = (request: FastifyRequest): Access => {
    const access = accesses.get(request);
    if (access === undefined) throw new AccessError(401, 'the request is not authenticated');
    return access;
  };

  app.register(
    (api, _none, done) => {
      api.removeAllContentTypeParsers();
      // The body is not used, so any content type and an empty body are accepted.
      api.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: 4_096 }, (_request, _body, parsed) => parsed(null, undefined));
      api.addHook('onRequest', async (request, reply) => {
        reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
        const { host, origin, 'content-type': contentType } = request.headers;
        if (options.auth.kind === 'none' && !isLocalHost(host))
          return reply.code(403).send({ error: 'without authentication, the API answers only requests to localhost' });
        accesses.set(request, await authenticate({ valuesOf: valuesIn(request.raw.rawHeaders), peer: request.socket.remoteAddress ?? '' }));
        const refusal = request.method === 'POST' ? refusePost({ host, origin, contentType }) : undefined;
        if (refusal !== undefined) return reply.code(refusal.status).send({ error: refusal.message });
      });
      api.setErrorHandler((error, request, reply) => answerError(error, request, reply, options.logger));

      api.get('/v1/doctor', async (request) => answerDoctor(doctor, accessOf(request)));
      api.get('/v1/namespaces/:namespace', async (request) =>
        answerNamespace(options.namespaces, accessOf(request), namespaceParams.parse(request.params).namespace),
      );
      api.get('/events', async (request) => {
        const { repository, ...rest } = query.parse(request.query);
        const name = repository === undefined ? undefined : formatRepository(parseImageReference(repository, options.aliases).repository);
        const { events, next } = await listEvents(options, accessOf(request), { ...rest, repository: name });
        return { events, ...(next !== undefined && { next: `${next.at}-${next.id}` }) };
      });
      api.get('/events/:id', async (request, reply) => {
        const event = await readEvent(options, accessOf(request), params.parse(request.params).id);
        return event ?? reply.code(404).send({ error: 'the event does not exist' });
      });
      api.post('/events/:id/replay', async (request, reply) => {
        const access = accessOf(request);
        const refusal = options.refusal();
        if (refusal !== undefined) return reply.code(503).header('retry-after', '5').send({ error: refusal });
        const replay = await replayEvent(options, access, params.parse(request.params).id);
        if (replay === undefined) return reply.code(404).send({ error: 'the event does not exist' });
        options.logger.info({ event: replay.id, replayOf: replay.replayOf, user: access.user }, 'event replayed');
        return reply.code(202).send({ id: replay.id, replayOf: replay.replayOf });
      });
      done();
    },
    { prefix: '/api' },
  );
}

/** Returns all values of a header. Node joins repeated headers, or drops all but one, so the raw list is needed. */
function valuesIn(rawHeaders: readonly string[]) {
  return (header: string): readonly string[] =>
    rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === header);
}

/** An event that the caller may not see is answered like one that does not exist. */
function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, logger: Logger): FastifyReply {
  if (error instanceof z.ZodError) {
    const [issue] = error.issues;
    return reply.code(400).send({ error: `${issue?.path.join('.') || 'query'}: ${issue?.message ?? 'not understood'}` });
  }
  if (error instanceof Error && error.name === 'PermanentError') return reply.code(400).send({ error: `repository: ${error.message}` });
  if (error instanceof AccessError) {
    if (error.status === 401) reply.header('www-authenticate', 'Bearer');
    if (error.status === 503) reply.header('retry-after', '5');
    if (error.cause !== undefined) logger.warn({ why: describeError(error) }, 'caller cannot be authenticated');
    return reply.code(error.status).send({ error: error.message });
  }
  if (error instanceof NotReplayable) return reply.code(409).send({ error: error.message });
  const status = error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 503;
  if (status < 500) return reply.code(status).send({ error: 'bad request' });
  logger.warn({ why: describeError(error), requestId: request.id }, 'events cannot be read');
  return reply.code(503).header('retry-after', '5').send({ error: 'Redis does not answer' });
}
