/** Serves the routes below `/api`: authenticates callers, checks requests, and answers with JSON, an ETag, or an error that says what to do. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { createDateFound } from '../causes/found-since.ts';
import { createRecentReport, makeDated } from '../causes/recent-report.ts';
import { describeError, PermanentError } from '../../core/model/errors.ts';
import { createTurns, type Turns } from '../../core/async/turns.ts';
import type { Repetition } from '../../core/async/repeat.ts';
import { cut } from '../../core/model/text.ts';
import type { EventRecord } from '../queue/event-record.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type Access, AccessError, type Question } from './access.ts';
import { createAuthenticate, isLocalHost, type OperationsAuth, refusePost } from './authenticate.ts';
import { shareReports } from './doctor-api.ts';
import { NotReplayable } from './events.ts';
import { describeApi } from './openapi.ts';
import { ActionRefused, type ApiPorts, type FindCauses, type InstallationPorts } from './ports.ts';
import { sendProblem } from './problem.ts';
import { recallEvents, recallInstallation, refreshMemory } from './recall.ts';
import type { Route } from './route.ts';
import { routes } from './routes/index.ts';
import { createStreams } from './stream.ts';

export interface ApiOptions extends Omit<
  ApiPorts,
  'streams' | 'features' | 'causes' | 'recentReport' | 'noteActivity' | 'sight' | 'memory' | 'installation' | 'turns'
> {
  /** The data in Redis about receivers and registries. */
  readonly installation: InstallationPorts;
  /** The newest pushes that are new, or have changed, since the last call. */
  readonly changedEvents: () => Promise<readonly EventRecord[]>;
  /** Remembers since when something is found, for all processes. */
  readonly noteFound: (found: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, number>>;
  readonly auth: OperationsAuth;
  /** What wings add; absent if there is nothing. */
  readonly added?: AddedRoutes | undefined;
  /** A monotonic clock in ms, for the age of what is remembered: one that is set back would keep rights that were taken away. That of the process unless given. */
  readonly elapsed?: () => number;
  /** Those of the process, in which something else may go first; own ones unless given. */
  readonly turns?: Turns;
}

/** The routes that wings add to the API, and the names of these wings. */
export interface AddedRoutes {
  readonly features: readonly string[];
  readonly routes: readonly Route[];
  /** The causes that wings find, of what the caller may see. */
  readonly causes?: readonly FindCauses[];
  /** What the wings ask about callers to decide what they show them. */
  readonly sight?: readonly Question[];
  /** Records the actions that callers asked for. */
  readonly noteActivity?: ApiPorts['noteActivity'] | undefined;
}

/** What is asked about callers in any case. */
const ownSight: readonly Question[] = [{ verb: 'list' }, { verb: 'get' }];

const bodyLimit = 4_096;
/** The path of the OpenAPI document. */
const documentPath = '/openapi.json';
/** How many requests of one user are answered at the same time. Each list of events reads up to 2,000 records. */
const maxOfUser = 32;
/** How often the list of what does not answer is compared with the last one. */
const staleMs = 1_000;
/** The pause between two warnings of the same kind, because anybody who can connect can cause them. */
const warningPauseMs = 10_000;

/** Adds all routes, and the document that describes them. */
export function addApi(
  app: FastifyInstance,
  { auth, added = { features: [], routes: [] }, elapsed = () => performance.now(), turns = createTurns(), ...options }: ApiOptions,
): void {
  const authenticate = createAuthenticate(auth, elapsed);
  const { features, causes = [], sight = [], noteActivity = () => undefined } = added;
  const doctor = options.doctor && shareReports(options.doctor, elapsed);
  const clock = { now: options.now, isAway: () => options.stale().some(({ what }) => what === 'redis') };
  const installation = recallInstallation(options.installation, clock);
  const memory = recallEvents(options.reader, clock);
  const dateFound = createDateFound(options.noteFound, options.now);
  const streams = createStreams();
  const closing = new AbortController();
  app.addHook('onClose', () => closing.abort());
  const reportMemory = { elapsed, onChange: streams.announce, signal: closing.signal };
  const recentReport =
    doctor === undefined
      ? () => Promise.resolve(undefined)
      : createRecentReport(() => makeDated(doctor.makeReport, dateFound), reportMemory);
  const ports: ApiPorts = {
    ...options,
    reader: memory.reader,
    memory,
    installation,
    features,
    causes,
    sight: [...ownSight, ...sight],
    noteActivity,
    streams,
    turns,
    doctor,
    recentReport,
  };
  const all = [...routes, ...added.routes];
  const served: readonly Served[] = [...all, { method: 'GET', path: documentPath }];
  followStale(app, ports);
  remember(app, [
    async () => memory.note(await options.changedEvents()),
    installation.receivers,
    installation.deliveries,
    installation.running,
  ]);
  const accesses = new WeakMap<FastifyRequest, Access>();
  const begin = boundUsers(maxOfUser);
  let warnedAt = -Infinity;
  const warnOfAccess = (why: string) => {
    if (elapsed() - warnedAt < warningPauseMs) return;
    warnedAt = elapsed();
    options.logger.warn({ why }, 'caller cannot be authenticated');
  };

  app.register(
    (api, _none, done) => {
      api.removeAllContentTypeParsers();
      // All content types are accepted, because only some routes use a body, and an empty body may have any type.
      api.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, parsed) => parsed(null, body));
      api.addHook('onRequest', async (request, reply) => {
        reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
        const { host, origin, 'content-type': contentType } = request.headers;
        if (auth.kind === 'none' && !isLocalHost(host))
          return sendProblem(reply, 403, 'without authentication, the API answers only requests to localhost');
        const peer = request.socket.remoteAddress ?? '';
        accesses.set(request, await authenticate({ valuesOf: valuesIn(request.raw.rawHeaders), peer, client: request.ip }));
        const refusal = request.method === 'POST' && !request.is404 ? refusePost({ host, origin, contentType }) : undefined;
        if (refusal !== undefined) return sendProblem(reply, refusal.status, refusal.message);
      });
      api.addHook('onSend', (request, reply, payload, sent) => sent(null, unlessKnown(request, reply, payload)));
      api.setErrorHandler((error, request, reply) => {
        if (error instanceof AccessError && error.cause !== undefined) warnOfAccess(describeError(error));
        // What is wrong with the body of a request does not matter where there is no such path or method.
        if (request.is404 && !(error instanceof AccessError)) return answerUnknown(request, reply, served);
        return answerError(error, request, reply, options.logger);
      });
      for (const route of all)
        api.route({
          method: route.method,
          // A stream has no HEAD route, because a HEAD would leave the stream open, which does not end by itself.
          exposeHeadRoute: route.media === undefined,
          url: `/v1${route.path}`.replaceAll(/\{(\w+)\}/g, ':$1'),
          async handler(request, reply) {
            const access = accesses.get(request);
            if (access === undefined) throw new AccessError(401, 'the request is not authenticated');
            const raw = { params: request.params, query: request.query, body: route.body && readBody(request.body) };
            if (route.media === undefined) {
              const end = begin(access.user);
              try {
                // Whatever is asked, in this process or by a dashboard in another one, gives way to pushes.
                await turns.next();
                const answer = await route.run(raw, access, ports);
                // A long answer is written in a turn of its own.
                await turns.next();
                return reply.code(route.status ?? 200).send(answer);
              } finally {
                end();
              }
            }
            const answer = await route.run(raw, access, ports);
            return reply
              .type(route.media)
              .header('x-accel-buffering', 'no')
              .send(Readable.from(answer as AsyncIterable<string>));
          },
        });
      api.setNotFoundHandler((request, reply) => answerUnknown(request, reply, served));
      // Made for whoever asks first: it would take a twentieth of the start.
      let document: ReturnType<typeof describeApi> | undefined;
      api.get(`/v1${documentPath}`, (_request, reply) => reply.send((document ??= describeApi(all, options.version))));
      done();
    },
    { prefix: '/api' },
  );
}

type Served = Pick<Route, 'method' | 'path' | 'media'>;
/** Has all readers of streams read again when something stops answering, or answers again. */
function followStale(app: FastifyInstance, { stale, streams }: ApiPorts): void {
  const read = () =>
    stale()
      .map(({ what }) => what)
      .join();
  let last = read();
  const timer = setInterval(() => {
    const now = read();
    if (now !== last) streams.announce();
    last = now;
  }, staleMs).unref();
  app.addHook('onClose', () => clearInterval(timer));
}

/** Reads now and then what is remembered for the time when Redis does not answer. */
function remember(app: FastifyInstance, read: readonly (() => Promise<unknown>)[]): void {
  let refresh: Repetition | undefined;
  app.addHook('onReady', (ready) => {
    refresh = refreshMemory(read);
    ready();
  });
  app.addHook('onClose', () => refresh?.stop());
}

/** Answers a path or a method that the API does not have. */
function answerUnknown(request: FastifyRequest, reply: FastifyReply, served: readonly Served[]): FastifyReply {
  const parts = request.url.split('?')[0]?.split('/').slice(3) ?? [];
  const isAt = ({ path }: Served) => {
    const own = path.split('/').slice(1);
    return own.length === parts.length && own.every((part, index) => part.startsWith('{') || part === parts[index]);
  };
  const isOfVersion = request.url.startsWith('/api/v1/');
  const allowed = served
    .filter((route) => isOfVersion && isAt(route))
    .flatMap(({ method, media }) => (method === 'GET' && media === undefined ? ['GET', 'HEAD'] : [method]));
  if (allowed.length === 0) return sendProblem(reply, 404, `there is no such path; /api/v1${documentPath} lists all`);
  const methods = [...new Set(allowed)].join(', ');
  return sendProblem(reply.header('allow', methods), 405, `this path has the methods ${methods}`);
}

/** Counts the running requests of each user; throws AccessError(429) above the maximum. */
function boundUsers(max: number): (user: string) => () => void {
  const underWay = new Map<string, number>();
  return (user) => {
    const count = underWay.get(user) ?? 0;
    if (count >= max) throw new AccessError(429, `you have ${max} requests under way; wait for their answers`);
    underWay.set(user, count + 1);
    return () => {
      const left = (underWay.get(user) ?? 1) - 1;
      if (left > 0) underWay.set(user, left);
      else underWay.delete(user);
    };
  };
}

/** Parses the whole body as JSON; an empty body is an empty object. */
function readBody(body: unknown): unknown {
  const text = Buffer.isBuffer(body) ? body.toString('utf8') : '';
  try {
    return text.trim() === '' ? {} : JSON.parse(text);
  } catch {
    throw new z.ZodError([{ code: 'custom', path: ['body'], message: 'is not JSON', input: text }]);
  }
}

/** Returns an empty payload with status 304 if the caller already has the answer. */
function unlessKnown(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  if (request.method !== 'GET' || reply.statusCode !== 200 || typeof payload !== 'string') return payload;
  const tag = `"${createHash('sha256').update(payload).digest('base64url').slice(0, 22)}"`;
  // The answers are the caller's own, and change at any time. They may be cached only to be revalidated.
  reply.headers({ etag: tag, 'cache-control': 'private, no-cache' });
  const known = request.headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, ''));
  if (known?.includes(tag) !== true) return payload;
  reply.code(304);
  return '';
}

/** Returns all values of a header. Node joins repeated headers, or drops all but one, so the raw list is needed. */
function valuesIn(rawHeaders: readonly string[]) {
  return (header: string): readonly string[] =>
    rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === header);
}

/** What is wrong with a request. */
function describeIssue(issue: z.core.$ZodIssue | undefined, query: unknown): string {
  if (issue?.code === 'unrecognized_keys')
    return `${cut(issue.keys[0] ?? '', 64)}: is not known here; /api/v1${documentPath} lists what is`;
  const place = issue?.path.join('.') || 'request';
  const isRepeated = Array.isArray((query as Readonly<Record<string, unknown>>)[place]);
  return `${place}: ${isRepeated ? 'is given more than once' : (issue?.message ?? 'not understood')}`;
}

/** Answers an error. An event that the caller may not see is answered like one that does not exist. */
function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, logger: Logger): FastifyReply {
  if (error instanceof z.ZodError) {
    return sendProblem(reply, 400, describeIssue(error.issues[0], request.query));
  }
  if (error instanceof PermanentError) return sendProblem(reply, 400, `repository: ${error.message}`);
  if (error instanceof AccessError) {
    if (error.status === 401) reply.header('www-authenticate', 'Bearer');
    if (error.status === 503 || error.status === 429) reply.header('retry-after', '5');
    return sendProblem(reply, error.status, error.message);
  }
  if (error instanceof ActionRefused) return sendProblem(reply, error.status, error.message);
  if (error instanceof NotReplayable) return sendProblem(reply, 409, error.message);
  const status = error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 503;
  if (status < 500)
    return sendProblem(reply, status, status === 413 ? `the body has more than ${bodyLimit} bytes` : 'the request is not understood');
  logger.warn({ why: describeError(error), requestId: request.id }, 'events cannot be read');
  return sendProblem(reply.header('retry-after', '5'), 503, 'Redis does not answer');
}
