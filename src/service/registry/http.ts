/** Sends requests to hosts: within their limits, with redirects, deadlines and bounded answers. */
import type { IncomingHttpHeaders } from 'node:http';
import { request as send } from 'undici';
import { codeOf, ProxyFailure } from '../../core/model/connection-failure.ts';
import { defined } from '../../core/model/defined.ts';
import { PermanentError } from '../../core/model/errors.ts';
import { describeVia } from '../proxy/route.ts';
import { refusedAddress } from './address-guard.ts';
import { isForbiddenAddress } from '../proxy/special-addresses.ts';
import type { AnswerBudget, BudgetedReading } from './answer-budget.ts';
import { explainConnectionError, isClosedConnection, silenceRemedy } from './answer-errors.ts';
import { startDeadline } from '../../core/async/deadline.ts';
import type { HostLimits } from './host-limits.ts';
import { recordInSpan } from './request-span.ts';
import type { Registry } from './registries.ts';

export type RequestKind = 'manifest' | 'tags' | 'token' | 'blob' | 'referrers' | 'push' | 'delete' | 'scan';

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';

/** A finished request, for metrics. `host` is the registry as policies name it, also for requests to its token server. */
export interface RequestRecord {
  host: string;
  kind: RequestKind;
  method: HttpMethod;
  status: number | 'error';
  durationMs: number;
}

/** Resolves if a request may still be sent, and rejects with the reason why not. */
export type Confirm = () => Promise<void>;

/** A request; `what` describes it in messages: `HEAD manifest of ghcr.io/a/b:1.2`. */
export interface HttpRequest {
  registry: Registry;
  kind: RequestKind;
  what: string;
  method: HttpMethod;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string | Buffer;
  /** The path of another repository of the registry that the request reads, for the scope of its token. */
  alsoReads?: string | undefined;
  /** The account whose quota the host may count the request against. */
  account?: string;
  maxBytes: number;
  /** The timeout including the body, if it is not the usual one. */
  timeoutMs?: number;
  maxRedirects: number;
  /** Called each time immediately before the request is sent. If it rejects, the request is not sent. */
  confirm?: Confirm | undefined;
  signal?: AbortSignal | undefined;
  /** The memory budget of the operation that the request belongs to, such as a list of many pages; without it, the request has its own. */
  reading?: BudgetedReading | undefined;
}

/** An answer with any status; `url` is the final URL after redirects. */
export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  url: URL;
  /** The time before which the host asks for no requests. */
  retryAt?: number;
  /** The origin of the credentials that the registry accepted, worded for users; absent for a request that was sent without authentication. */
  credentials?: string;
}

export interface HttpOptions {
  limits: HostLimits;
  budget: AnswerBudget;
  timeoutMs: number;
  onRequest?: ((record: RequestRecord) => void) | undefined;
  /** Called after each request with its answer, if any; may throw the error that the caller gets instead. */
  onHop?: ((request: HttpRequest, answer: HttpAnswer | undefined) => void) | undefined;
}

/**
 * Sends a request within the host's limits and follows redirects. Every hop passes the address guard, and Authorization is only sent to the first
 * origin. Rejects with the signal's reason, PermanentError(RegistryRefused), or an Error that names the request.
 */
export type Http = (request: HttpRequest) => Promise<HttpAnswer>;

// The number of bytes that are read of an error answer. The beginning of an error page is enough.
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
    `${what}: the registry ${registry.name} redirects to ${url.protocol}//${url.host}, but only https is allowed unless the configuration says insecure: true for it`,
  );
}

/** One request to a host; its result updates the host's pauses and circuit. */
async function exchange(options: HttpOptions, request: HttpRequest): Promise<HttpAnswer> {
  const { url, what, signal, method, kind, account } = request;
  const subject = subjectOf(url);
  const isPull = method === 'GET' && kind === 'manifest';
  const slot = await options.limits.acquire({ host: url.host, what, pullBy: isPull ? account : undefined, signal });
  try {
    const answer = await exchangeTwice(options, request);
    options.onHop?.(request, answer);
    const { status, headers } = answer;
    const retryAt = slot.release({ kind: 'answer', status, headers, subject, account, isPull });
    return retryAt === undefined ? answer : { ...answer, retryAt };
  } catch (error) {
    const isFailure = error instanceof HostFailure;
    if (isFailure) options.onHop?.(request, undefined);
    slot.release(isFailure ? { kind: 'failure', why: error.why, ...(!error.isWholeHost && { subject }) } : { kind: 'nothing' });
    throw error;
  }
}

async function exchangeTwice(options: HttpOptions, request: HttpRequest): Promise<HttpAnswer> {
  try {
    return await exchangeOnce(options, request);
  } catch (error) {
    // Every request may be sent twice, also those that write. So a request whose connection was closed is repeated without a pause.
    if (request.signal?.aborted || !(error instanceof HostFailure) || !error.isClosed) throw error;
    return exchangeOnce(options, request);
  }
}

async function exchangeOnce(options: HttpOptions, request: HttpRequest): Promise<HttpAnswer> {
  // `confirm` is called this late because a request may have waited for its slot, for memory, or for a token.
  const send = async (reading: BudgetedReading) => {
    await request.confirm?.();
    return exchangeWith(reading, options, request);
  };
  return request.reading === undefined ? options.budget.run(request, send) : send(request.reading);
}

async function exchangeWith(reading: BudgetedReading, options: HttpOptions, request: HttpRequest): Promise<HttpAnswer> {
  const { onRequest } = options;
  const { registry, kind, method, what, url, timeoutMs = options.timeoutMs } = request;
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
    const via = describeVia(registry.routeTo(url));
    if (deadline.isOver) throw new HostFailure(what, { why: describeSilence(url, via, timeoutMs) }, { cause: error });
    const why = explainConnectionError(error);
    const failed = { isWholeHost: true, isClosed: isClosedConnection(error) };
    if (why !== undefined)
      throw new HostFailure(what, { ...failed, why: `cannot connect to ${url.host}${error instanceof ProxyFailure ? '' : via}: ${why}` });
    const code = codeOf(error);
    throw new HostFailure(
      what,
      { ...failed, why: `cannot connect to ${url.host}${via}${code === '' ? '' : ` (${code})`}` },
      { cause: error },
    );
  } finally {
    deadline.end();
    const record = { host: registry.name, kind, method, status, durationMs: performance.now() - startedAt };
    onRequest?.(record);
    recordInSpan(record);
  }
}

async function transfer(request: HttpRequest, reading: BudgetedReading, signal: AbortSignal): Promise<HttpAnswer> {
  const { registry, method, url, headers, body, maxBytes } = request;
  const answer = await send(url, {
    dispatcher: registry.agent,
    method,
    headers,
    signal,
    // The connection is kept open. By default, undici closes it after each HEAD, and the next push would need a TLS handshake.
    reset: false,
    ...defined({ body }),
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
    // The memory is released here, because callers reduce the answer to something smaller right away.
    reading.grow(-counted);
  }
}

class BodyTooLarge extends Error {}

function describeSilence({ host }: URL, via: string, timeoutMs: number): string {
  const remedy = via === '' ? silenceRemedy : 'check that the proxy may connect there, and how long it waits';
  return `timed out: no answer from ${host}${via} within ${timeoutMs} ms; ${remedy}`;
}

interface HostProblem {
  readonly why: string;
  readonly isWholeHost?: boolean;
  readonly isClosed?: boolean;
}

/** Thrown if a host gave no answer, or only a part of one. */
class HostFailure extends Error {
  readonly why: string;
  readonly isWholeHost: boolean;
  readonly isClosed: boolean;

  constructor(what: string, { why, isWholeHost = false, isClosed = false }: HostProblem, options?: ErrorOptions) {
    super(`${what}: ${why}`, options);
    this.why = why;
    this.isWholeHost = isWholeHost;
    this.isClosed = isClosed;
  }
}

/** The requested resource of a host: a repository, or any other path. */
function subjectOf({ pathname, search }: URL): string {
  const repository = /^\/v2\/(.+)\/(?:(?:manifests|tags|blobs|referrers)\/[^/]+|blobs\/uploads\/.*)$/.exec(pathname)?.[1];
  return repository ?? pathname + search;
}

function withoutAuthorization(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'authorization'));
}
