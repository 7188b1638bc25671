import type { Dispatcher } from 'undici';
import { abortable, startDeadline } from '../../core/async/deadline.ts';
import { createConnectionPool } from './connection-pool.ts';
import type { KubeAccess, KubeAccessSource } from './kube-access.ts';
import { type KubeAccessOptions, loadKubeAccess } from './load-kube-access.ts';
import { kubeErrorFromAnswer } from './kube-error.ts';
import { NotSentError, sendBefore } from './send-before.ts';
import { spanOf } from './request-span.ts';
import { readLines } from './watch-events.ts';
import { currentSpan } from '../telemetry/tracing.ts';

/** One request to the API server; `body` is sent as JSON of `contentType` (application/json unless given). */
export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path from the root, for example `/api/v1/namespaces`. Use `objectPath` and `listPath` for names that users chose. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  /** The media type of the response: application/json unless given. */
  readonly accept?: string | undefined;
  /** Whether the response is a text, and not JSON. */
  readonly isText?: boolean;
  /** The Authorization header, for a client of `kind: 'users'`, which has no credentials of its own. */
  readonly authorization?: string;
  readonly signal?: AbortSignal | undefined;
  /** Called with the header Date of the response, whatever its status. */
  readonly onDate?: (date: string) => void;
  /** The latest time to send the request, by `performance.now()`; later, it fails with NotSentError. If absent, it is sent when a connection is free. */
  readonly sendBefore?: number | undefined;
  /** The timeout of the whole exchange, including the wait for a free connection. Streams have no limit unless it is given. */
  readonly timeoutMs?: number;
}

/** A request whose response is read line by line. */
export interface KubeStreamRequest extends KubeRequest {
  /** Called when the server has accepted the request, which may be minutes before the first line. */
  readonly onOpen?: () => void;
}

/** Sends plain JSON over kept-alive connections, with the credentials of a kubeconfig or of the pod. */
export interface KubeClient {
  /** The namespace of the kubeconfig's context, or of the pod. */
  readonly namespace?: string | undefined;
  /** Returns the parsed response. Throws KubeError for status >= 400, and an Error that names the request if there is no response. */
  request<T>(request: KubeRequest): Promise<T>;
  /**
   * The lines of a watch, read no faster than they are consumed. It ends without an error if the server ends it, if the signal is aborted, or if nothing
   * arrived for 150 s (nothing happened, or the connection is dead; a new request shows which). Throws KubeError for status >= 400, and an Error if the
   * connection breaks or the deadline passes.
   */
  streamLines(request: KubeStreamRequest): AsyncIterable<string>;
  close(): Promise<void>;
}

/** The timeouts of a client, and whose credentials it sends. */
export interface KubeClientOptions {
  readonly requestTimeoutMs?: number;
  /** The time without data after which a stream ends. */
  readonly streamIdleMs?: number;
  /** `own`: the client sends its own credentials. `users`: it sends those of each request, and none of its own, such as a client certificate. */
  readonly kind?: 'own' | 'users';
  /** The clock of the process, unless a test sets another. */
  readonly now?: () => number;
}

/** Opens the client for a kubeconfig, or for the pod. It does not connect yet; rejects without usable access. */
export async function openKubeClient(options: KubeAccessOptions & KubeClientOptions = {}): Promise<KubeClient> {
  return createKubeClient(await loadKubeAccess(options), options);
}

/**
 * Creates a client, which does not connect yet. client-node's generated API is not used: it opens a TLS connection for each request and loses the precision of
 * dates (both measured with 2.0.1).
 */
export function createKubeClient(accessSource: KubeAccessSource, options: KubeClientOptions = {}): KubeClient {
  const { requestTimeoutMs = 10_000, streamIdleMs = 150_000, now = Date.now } = options;
  const accessFor = async (request: KubeRequest): Promise<KubeAccess> => {
    const access = await accessSource.current();
    if (options.kind !== 'users') return access;
    const { cert: _cert, key: _key, ...tls } = access.tls;
    const headers = request.authorization === undefined ? {} : { authorization: request.authorization };
    return { ...access, tls, headers };
  };
  const pool = createConnectionPool();

  const sendOnce = (access: KubeAccess, request: KubeRequest, signal: AbortSignal, isStream: boolean): Promise<Dispatcher.ResponseData> => {
    const { requests, streams, origin, basePath } = pool.connect(access);
    const dispatcher = isStream ? streams : requests;
    return (request.sendBefore === undefined ? dispatcher : dispatcher.compose(sendBefore(request.sendBefore))).request({
      origin,
      path: `${basePath}${request.path}${searchOf(request)}`,
      method: request.method,
      headers: {
        accept: request.accept ?? 'application/json',
        'user-agent': 'image-watcher',
        ...contentTypeOf(request),
        ...access.headers,
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      signal,
      // Streams have the timeouts of undici, because only requests have a deadline for everything.
      headersTimeout: isStream ? requestTimeoutMs : 0,
      bodyTimeout: isStream ? streamIdleMs : 0,
    });
  };

  const send = async (request: KubeRequest, signal: AbortSignal, isStream: boolean): Promise<Dispatcher.ResponseData> => {
    const access = await abortable(accessFor(request), signal);
    const answer = await sendOnce(access, request, signal, isStream).catch((error: unknown) => {
      // The server closed an idle connection just as it was reused. Only reads may be repeated, because it is not known whether the request arrived.
      if (request.method !== 'GET' || !isBrokenConnection(error)) throw error;
      return sendOnce(access, request, signal, isStream);
    });
    if (answer.statusCode !== 401 || options.kind === 'users') return answer;
    await answer.body.dump();
    accessSource.forget(access);
    return sendOnce(await abortable(accessSource.current(), signal), request, signal, isStream);
  };

  const throwIfRefused = async (request: KubeRequest, answer: Dispatcher.ResponseData): Promise<void> => {
    if (answer.statusCode < 400) return;
    const retryAfter = [answer.headers['retry-after']].flat()[0];
    throw kubeErrorFromAnswer(callOf(request), { status: answer.statusCode, body: await answer.body.text(), retryAfter }, now());
  };

  const exchange = async <T>(request: KubeRequest): Promise<T> => {
    const deadline = startDeadline(request.timeoutMs ?? requestTimeoutMs, request.signal);
    try {
      const answer = await send(request, deadline.signal, false);
      request.onDate?.([answer.headers['date']].flat()[0] ?? '');
      await throwIfRefused(request, answer);
      const text = await answer.body.text();
      if (request.isText) return text as T;
      return (text === '' ? undefined : JSON.parse(text)) as T;
    } catch (error) {
      throw nameRequest(request, error);
    } finally {
      deadline.end();
    }
  };

  return {
    namespace: accessSource.namespace,

    request<T>(request: KubeRequest): Promise<T> {
      const span = currentSpan();
      return span === undefined ? exchange<T>(request) : span.step(spanOf(request), () => exchange<T>(request));
    },

    async *streamLines(request) {
      const deadline = startDeadline(request.timeoutMs, request.signal);
      try {
        const answer = await send(request, deadline.signal, true);
        await throwIfRefused(request, answer);
        request.onOpen?.();
        yield* readLines(answer.body);
      } catch (error) {
        if (request.signal?.aborted || codeOf(error) === 'UND_ERR_BODY_TIMEOUT') return;
        throw nameRequest(request, error);
      } finally {
        deadline.end();
      }
    },

    close: () => pool.close(),
  };
}

function searchOf({ query = {} }: KubeRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

function contentTypeOf(request: KubeRequest): { 'content-type'?: string } {
  return request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' };
}

function callOf({ method, path }: KubeRequest): string {
  return `${method} ${path}`;
}

function nameRequest(request: KubeRequest, error: unknown): unknown {
  if (request.signal?.aborted) return request.signal.reason;
  if (error instanceof NotSentError || (error instanceof Error && error.message.startsWith(callOf(request)))) return error;
  const { message, code, name } = error as NodeJS.ErrnoException;
  return new Error(`${callOf(request)}: ${message || code || name}`, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

function isBrokenConnection(error: unknown): boolean {
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '');
}
