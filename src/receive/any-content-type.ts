import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { ByteBudget } from '../model/byte-budget.ts';

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
  const budget = new ByteBudget(readingBytes);
  app.removeAllContentTypeParsers();
  // Fastify finds by name much faster than by `*`.
  app.addContentTypeParser(['application/json', '*'], (request, payload, done) => {
    const { bodyLimit } = request.routeOptions;
    if (Number(request.headers['content-length']) > bodyLimit) done(new BodyRefused(413));
    else readBody(payload, { limit: bodyLimit, budget }, done);
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

function readBody(
  payload: Readable,
  { limit, budget }: { limit: number; budget: ByteBudget },
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const pieces: Buffer[] = [];
  let isSettled = false;
  let length = 0;
  const reading = budget.open(() => settle(new BodyRefused(503)));
  const settle = (error: Error | null, body?: Buffer) => {
    if (isSettled) return;
    isSettled = true;
    payload.off('data', read).off('end', end).off('error', fail).off('close', fail);
    reading.end();
    pieces.length = 0;
    done(error, body);
  };
  const read = (piece: Buffer) => {
    pieces.push(piece);
    length += piece.length;
    reading.grow(piece.length);
    if (length > limit || pieces.length > freePieces + length / bytesPerPiece) settle(new BodyRefused(413));
  };
  const end = () => settle(null, Buffer.concat(pieces, length));
  const fail = () => settle(new BodyRefused(400));
  // A request that breaks off is closed; whether it also fails depends on how it does.
  payload.on('data', read).on('end', end).on('error', fail).on('close', fail);
}
