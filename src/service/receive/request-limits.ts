/** Limits the time, bytes and connections that a client of the public listener may use before it is authenticated. */
import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { ByteBudget } from '../../core/model/byte-budget.ts';

export interface ListenLimits {
  readonly bodyLimitBytes: number;
  /** The limit for all headers of a request together, in bytes. */
  readonly maxHeaderBytes: number;
  /** The time until the last header of a request must be received. */
  readonly headersTimeoutMs: number;
  /** The time until the last byte of a request's body must be received. */
  readonly requestTimeoutMs: number;
  /** How long a connection may idle between requests. It must be longer than at the load balancer in front, which would otherwise use closed connections. */
  readonly keepAliveTimeoutMs: number;
  readonly maxConnections: number;
}

/** The limits as options of Fastify and of Node's server. */
export function serverOptions({ bodyLimitBytes, maxHeaderBytes, headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs }: ListenLimits) {
  const soonest = Math.min(headersTimeoutMs, requestTimeoutMs);
  return {
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    // A connection without traffic for longer than this is dead, because responses are never slow.
    connectionTimeout: requestTimeoutMs + 5_000,
    http: {
      maxHeaderSize: maxHeaderBytes,
      // Node requires the headers' timeout to be at most the request's timeout.
      headersTimeout: soonest,
      // How often Node checks these timeouts. Its default is every half minute.
      connectionsCheckingInterval: Math.max(20, Math.min(1_000, Math.floor(soonest / 4))),
    },
  };
}

/**
 * The number of chunks of a request that are free of a check; beyond it, the average chunk must have `bytesPerChunk`. Each chunk is an event and a buffer of
 * its own, so a megabyte in chunks of one byte costs seconds. Senders write kilobytes at a time.
 */
const freeChunks = 512;
const bytesPerChunk = 512;

/** The limit for the memory of all bodies that are being read, in bytes. Their senders are not authenticated yet. */
const defaultReadingBytes = 128 * 1024 * 1024;

/** Gives handlers the exact bytes of every body, which authentication needs, whatever its content type. */
export function acceptAnyContentType(app: FastifyInstance, readingBytes = defaultReadingBytes): void {
  const budget = new ByteBudget(readingBytes);
  app.removeAllContentTypeParsers();
  // JSON has a parser under its own name because Fastify finds it much faster than by `*`.
  app.addContentTypeParser(['application/json', '*'], (request, payload, done) => {
    const { bodyLimit } = request.routeOptions;
    if (Number(request.headers['content-length']) > bodyLimit) done(new BodyRefused(413));
    else readBody(payload, { limit: bodyLimit, budget }, done);
  });
  // Fastify answers 415 to a content type that it cannot parse, but no sender should be refused for that.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.mediaType === undefined) delete request.raw.headers['content-type'];
    done();
  });
}

const refusals = { 400: 'the body cannot be read', 413: 'the body is too large', 503: 'too many bodies are being read' } as const;

class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
  readonly statusCode: keyof typeof refusals;

  constructor(statusCode: keyof typeof refusals) {
    super(refusals[statusCode]);
    this.statusCode = statusCode;
  }
}

function readBody(
  payload: Readable,
  { limit, budget }: { limit: number; budget: ByteBudget },
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const chunks: Buffer[] = [];
  let isDone = false;
  let length = 0;
  const reading = budget.open(() => finish(new BodyRefused(503)));
  const finish = (error: Error | null, body?: Buffer) => {
    if (isDone) return;
    isDone = true;
    payload.off('data', read).off('end', end).off('error', fail).off('close', fail);
    reading.end();
    chunks.length = 0;
    done(error, body);
  };
  const read = (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    reading.grow(chunk.length);
    if (length > limit || chunks.length > freeChunks + length / bytesPerChunk) finish(new BodyRefused(413));
  };
  const end = () => finish(null, Buffer.concat(chunks, length));
  const fail = () => finish(new BodyRefused(400));
  // An aborted request emits `close`, but an error only for some ways in which it was aborted.
  payload.on('data', read).on('end', end).on('error', fail).on('close', fail);
}
