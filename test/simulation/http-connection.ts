/** HTTP connections of one process: a Dispatcher of undici over the simulated network, without sockets. */
import { Dispatcher, errors } from 'undici';
import type { Clock } from './clock.ts';
import type { Network, Server } from './network.ts';

export interface SentHttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly sentAt: number;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface HttpServer {
  readonly name: Server;
  /** What a request does, for faults: `GET manifest`. */
  describe(request: Pick<SentHttpRequest, 'method' | 'url'>): string;
  serve(request: SentHttpRequest): HttpReply;
  /** The answer of a server in trouble. */
  refuse(kind: 'refused' | 'throttled'): HttpReply;
}

export interface HttpMeans {
  readonly clock: Clock;
  readonly network: Network;
  readonly server: HttpServer;
}

/** Connections to one server, for the `dispatcher` of requests. */
export class SimulatedConnections extends Dispatcher {
  readonly #means: HttpMeans;

  constructor(means: HttpMeans) {
    super();
    this.#means = means;
  }

  override dispatch(
    { origin = '', path, method, headers, body }: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const { clock, network, server } = this.#means;
    const request = { method, url: new URL(path, origin), headers: toRecord(headers), body: toBuffer(body) };
    const exchange = openExchange(handler);
    exchange.start();
    if (exchange.isOver) return true;
    const sent = network.send({
      server: server.name,
      what: server.describe(request),
      serve: (sentAt) => server.serve({ ...request, sentAt }),
      refuse: server.refuse,
    });
    const wait = async () => {
      try {
        const reply = await sent;
        clock.takeTurn();
        exchange.finish(method === 'HEAD' ? { ...reply, body: Buffer.alloc(0) } : reply);
      } catch (error) {
        exchange.fail(new errors.SocketError(error instanceof Error ? error.message : String(error)));
      }
    };
    void wait();
    return true;
  }

  override close(): Promise<void>;
  override close(callback: () => void): void;
  override close(callback?: () => void): Promise<void> | void {
    if (callback === undefined) return Promise.resolve();
    callback();
  }
}

/** One request and its answer, as undici reports them to its handlers. */
interface Exchange {
  readonly isOver: boolean;
  start(): void;
  finish(reply: HttpReply): void;
  fail(error: Error): void;
}

function openExchange(handler: Dispatcher.DispatchHandler): Exchange {
  let isOver = false;
  let reason: Error | null = null;
  const end = (run: () => void) => {
    if (isOver) return;
    isOver = true;
    run();
  };
  const controller: Dispatcher.DispatchController = {
    get aborted() {
      return reason !== null;
    },
    get reason() {
      return reason;
    },
    // Answers are short, and have arrived as a whole.
    paused: false,
    pause: () => undefined,
    resume: () => undefined,
    abort(why) {
      end(() => {
        reason = why;
        handler.onResponseError?.(controller, why);
      });
    },
  };
  return {
    get isOver() {
      return isOver;
    },
    start: () => handler.onRequestStart?.(controller, {}),
    finish({ status, headers, body }) {
      end(() => {
        handler.onResponseStart?.(controller, status, headers);
        if (body.length > 0) handler.onResponseData?.(controller, body);
        handler.onResponseEnd?.(controller, {});
      });
    },
    fail: (error) => end(() => handler.onResponseError?.(controller, error)),
  };
}

function toRecord(headers: Dispatcher.DispatchOptions['headers']): Record<string, string> {
  if (headers === undefined || headers === null) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function toBuffer(body: Dispatcher.DispatchOptions['body']): Buffer {
  if (body === undefined || body === null) return Buffer.alloc(0);
  if (typeof body === 'string' || Buffer.isBuffer(body)) return Buffer.from(body);
  throw new Error('the simulation sends texts and buffers');
}
