import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

/**
 * Each chunk of a request is an event and a buffer of its own, so a megabyte in chunks of one byte costs seconds. Senders write kilobytes at a time: so many
 * pieces are free, and from there on each must be worth this many bytes on average.
 */
const freePieces = 512;
const bytesPerPiece = 512;

/** All bodies that are being read may take this together, in bytes: nobody has said yet who sends them. */
const defaultReadingBytes = 128 * 1024 * 1024;

/** Hands the exact bytes of every body to the handlers, as authentication needs them, whatever the content type says. */
export function acceptAnyContentType(app: FastifyInstance, readingBytes = defaultReadingBytes): void {
  const readings = new Readings(readingBytes);
  app.removeAllContentTypeParsers();
  // Fastify finds by name much faster than by `*`.
  app.addContentTypeParser(['application/json', '*'], (request, payload, done) => {
    const { bodyLimit } = request.routeOptions;
    if (Number(request.headers['content-length']) > bodyLimit) done(new BodyRefused(413));
    else readBody(payload, { limit: bodyLimit, readings }, done);
  });
  // Fastify answers 415 to a content type that cannot be parsed, and no sender should be turned away for that.
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

interface Reading {
  length: number;
  readonly giveUp: () => void;
}

/** The bodies that are being read. Where they take too much memory, the largest is given up: those of genuine senders are small. */
class Readings {
  readonly #open = new Set<Reading>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(reading: Reading): void {
    this.#open.add(reading);
  }

  grow(reading: Reading, bytes: number): void {
    reading.length += bytes;
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes && this.#open.size > 1) {
      let largest = reading;
      for (const other of this.#open) if (other.length > largest.length) largest = other;
      largest.giveUp();
    }
  }

  delete(reading: Reading): void {
    if (this.#open.delete(reading)) this.#bytes -= reading.length;
  }
}

function readBody(
  payload: Readable,
  { limit, readings }: { limit: number; readings: Readings },
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const pieces: Buffer[] = [];
  let isSettled = false;
  const reading: Reading = { length: 0, giveUp: () => settle(new BodyRefused(503)) };
  const settle = (error: Error | null, body?: Buffer) => {
    if (isSettled) return;
    isSettled = true;
    payload.off('data', read).off('end', end).off('error', fail).off('close', fail);
    readings.delete(reading);
    pieces.length = 0;
    done(error, body);
  };
  const read = (piece: Buffer) => {
    pieces.push(piece);
    readings.grow(reading, piece.length);
    const { length } = reading;
    if (length > limit || pieces.length > freePieces + length / bytesPerPiece) settle(new BodyRefused(413));
  };
  const end = () => settle(null, Buffer.concat(pieces, reading.length));
  const fail = () => settle(new BodyRefused(400));
  readings.add(reading);
  // A request that breaks off is closed; whether it also fails depends on how it does.
  payload.on('data', read).on('end', end).on('error', fail).on('close', fail);
}
