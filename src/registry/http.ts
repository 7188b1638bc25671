import type { IncomingHttpHeaders } from 'node:http';
import { request as send } from 'undici';
import { PermanentError } from '../model/errors.ts';
import { isForbiddenAddress, refusedAddress } from './address-guard.ts';
import type { AnswerBudget, BudgetedReading } from './answer-budget.ts';
import { explainConnectionError, isClosedConnection } from './connection-errors.ts';
import { startDeadline } from '../async/deadline.ts';
import type { HostLimits } from './host-limits.ts';
import type { Registry } from './registries.ts';

export type RequestKind = 'manifest' | 'tags' | 'token' | 'blob' | 'referrers';

/** One finished request, for metrics: `host` is the registry as policies name it, also for its token server. */
export interface RequestRecord {
  host: string;
  kind: RequestKind;
  method: 'GET' | 'HEAD' | 'POST';
  status: number | 'error';
  durationMs: number;
}

/** `what` names the thing being done, for messages: `HEAD manifest of ghcr.io/a/b:1.2`. */
export interface HttpRequest {
  registry: Registry;
  kind: RequestKind;
  what: string;
  method: 'GET' | 'HEAD' | 'POST';
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** On whose account, where the host may count by that. */
  account?: string;
  maxBytes: number;
  maxRedirects: number;
  signal?: AbortSignal | undefined;
  /** What it is a part of and counts to; without, it counts by itself. */
  reading?: BudgetedReading | undefined;
}

/** Any answer, whatever its status; `url` is where redirects ended. */
export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  url: URL;
  /** The time until which the host wants to be left alone. */
  retryAt?: number;
}

export interface HttpOptions {
  limits: HostLimits;
  budget: AnswerBudget;
  timeoutMs: number;
  onRequest?: ((record: RequestRecord) => void) | undefined;
  /** Called after each request, with whatever came of it: throws what the caller is to get instead of it. */
  onHop?: ((request: HttpRequest, answer: HttpAnswer | undefined) => void) | undefined;
}

/**
 * Sends a request within the host's limits and follows redirects. Every hop passes the address guard, and Authorization stays with the origin
 * it was meant for. Rejects with the signal's reason, PermanentError(RegistryRefused), or an Error that says what was being done.
 */
export type Http = (request: HttpRequest) => Promise<HttpAnswer>;

// Of the page that comes with an error, its beginning is enough.
const maxErrorBytes = 64 * 1024;
const redirects = new Set([301, 302, 303, 307, 308]);

export function createHttp(options: HttpOptions): Http {
  return async (request) => {
    let { url, headers } = request;
    for (let hop = 0; ; hop++) {
      guardUrl(url, request);
      const answer = await exchange(options, { ...request, url, headers });
      const location = redirects.has(answer.status) && request.maxRedirects > 0 ? answer.headers.location : undefined;
      if (location === undefined) return answer;
      if (hop === request.maxRedirects) throw new Error(`${request.what}: more than ${request.maxRedirects} redirects`);
      if (!URL.canParse(location, url.href)) throw new Error(`${request.what}: redirected to something that is not a URL`);
      const next = new URL(location, url);
      if (next.origin !== url.origin) headers = withoutAuthorization(headers);
      url = next;
    }
  };
}

function guardUrl(url: URL, { registry, what }: HttpRequest): void {
  if (isForbiddenAddress(url.hostname)) throw refusedAddress(`${what}: ${url.hostname}`);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && registry.insecure)) return;
  throw new PermanentError(
    'RegistryRefused',
    `${what}: the registry ${registry.name} sends to ${url.protocol}//${url.host}, but only https is allowed unless the configuration says insecure: true for it`,
  );
}

/** One visit to a host; the end of it tells the others what to expect there. */
async function exchange(options: HttpOptions, request: HttpRequest): Promise<HttpAnswer> {
  const { url, what, signal, method, kind, account } = request;
  const subject = subjectOf(url);
  const isPull = method === 'GET' && kind === 'manifest';
  const visit = await options.limits.enter({ host: url.host, what, pullBy: isPull ? account : undefined, signal });
  try {
    const answer = await exchangeTwice(options, request);
    options.onHop?.(request, answer);
    const { status, headers } = answer;
    const retryAt = visit.leave({ kind: 'answer', status, headers, subject, account, isPull });
    return retryAt === undefined ? answer : { ...answer, retryAt };
  } catch (error) {
    const isFailure = error instanceof HostFailure;
    if (isFailure) options.onHop?.(request, undefined);
    visit.leave(isFailure ? { kind: 'failure', why: error.why, ...(!error.isWholeHost && { subject }) } : { kind: 'nothing' });
    throw error;
  }
}

async function exchangeTwice(options: HttpOptions, request: HttpRequest): Promise<HttpAnswer> {
  try {
    return await exchangeOnce(options, request);
  } catch (error) {
    // Nothing that is asked here changes the registry, so a connection that closed under our hands is tried anew at once.
    if (request.signal?.aborted || !(error instanceof Error) || !isClosedConnection(error.cause)) throw error;
    return exchangeOnce(options, request);
  }
}

async function exchangeOnce(options: HttpOptions, request: HttpRequest): Promise<HttpAnswer> {
  if (request.reading !== undefined) return exchangeWith(request.reading, options, request);
  return options.budget.run(request, (own) => exchangeWith(own, options, request));
}

async function exchangeWith(reading: BudgetedReading, { timeoutMs, onRequest }: HttpOptions, request: HttpRequest): Promise<HttpAnswer> {
  const { registry, kind, method, what, url } = request;
  const { signal } = reading;
  const deadline = startDeadline(timeoutMs, signal);
  const startedAt = performance.now();
  let status: number | 'error' = 'error';
  try {
    const answer = await transfer(request, reading, deadline.signal);
    status = answer.status;
    return answer;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PermanentError) throw error;
    if (error instanceof BodyTooLarge) throw new Error(`${what}: ${error.message}`, { cause: error });
    const why = deadline.isOver ? `no answer from ${url.host} within ${timeoutMs} ms` : explainConnectionError(error, url);
    throw new HostFailure(what, why, !deadline.isOver, { cause: error });
  } finally {
    deadline.end();
    onRequest?.({ host: registry.name, kind, method, status, durationMs: performance.now() - startedAt });
  }
}

async function transfer(request: HttpRequest, reading: BudgetedReading, signal: AbortSignal): Promise<HttpAnswer> {
  const { registry, method, url, headers, body, maxBytes } = request;
  const answer = await send(url, {
    dispatcher: registry.agent,
    method,
    headers,
    signal,
    // undici closes the connection after each HEAD unless told otherwise, and the next push would pay for a TLS handshake.
    reset: false,
    ...(body !== undefined && { body }),
  });
  const chunks: Buffer[] = [];
  let size = 0;
  let counted = 0;
  const isWanted = answer.statusCode >= 200 && answer.statusCode < 300;
  try {
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (!isWanted && size > maxErrorBytes) break;
      if (isWanted && size > maxBytes) throw new BodyTooLarge(`the answer is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
      counted += chunk.length;
      reading.grow(chunk.length);
      signal.throwIfAborted();
    }
    return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks), url };
  } finally {
    // Whoever asked makes something smaller of it at once.
    reading.grow(-counted);
  }
}

class BodyTooLarge extends Error {}

/** There was no answer, or only a part of one. */
class HostFailure extends Error {
  readonly why: string;
  readonly isWholeHost: boolean;

  constructor(what: string, why: string, isWholeHost: boolean, options: ErrorOptions) {
    super(`${what}: ${why}`, options);
    this.why = why;
    this.isWholeHost = isWholeHost;
  }
}

/** What of a host is asked: a repository, or whatever else has an address of its own. */
function subjectOf({ pathname, search }: URL): string {
  const repository = /^\/v2\/(.+)\/(?:manifests|tags|blobs|referrers)\/[^/]+$/.exec(pathname)?.[1];
  return repository ?? pathname + search;
}

function withoutAuthorization(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'authorization'));
}
