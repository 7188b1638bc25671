import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

/**
 * Each chunk of a request is an event and a buffer of its own, so a megabyte in chunks of one byte costs seconds. Senders write kilobytes at a time: so many
 * pieces are free, and from there on each must be worth this many bytes on average.
 */
const freePieces = 512;
const bytesPerPiece = 512;

/** Hands the exact bytes of every body to the handlers, as authentication needs them, whatever the content type says. */
export function acceptAnyContentType(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // Fastify finds by name much faster than by `*`.
  app.addContentTypeParser(['application/json', '*'], (request, payload, done) => {
    const { bodyLimit } = request.routeOptions;
    if (Number(request.headers['content-length']) > bodyLimit) done(new BodyRefused(413));
    else readBody(payload, bodyLimit, done);
  });
  // Fastify answers 415 to a content type that cannot be parsed, and no sender should be turned away for that.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.mediaType === undefined) delete request.raw.headers['content-type'];
    done();
  });
}

class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
  readonly statusCode: 400 | 413;

  constructor(statusCode: 400 | 413) {
    super(statusCode === 413 ? 'the body is too large' : 'the body cannot be read');
    this.statusCode = statusCode;
  }
}

function readBody(payload: Readable, limit: number, done: (error: Error | null, body?: Buffer) => void): void {
  const pieces: Buffer[] = [];
  let length = 0;
  const settle = (error: Error | null, body?: Buffer) => {
    payload.off('data', read).off('end', end).off('error', fail);
    done(error, body);
  };
  const read = (piece: Buffer) => {
    length += piece.length;
    pieces.push(piece);
    if (length > limit || pieces.length > freePieces + length / bytesPerPiece) settle(new BodyRefused(413));
  };
  const end = () => settle(null, Buffer.concat(pieces, length));
  const fail = () => settle(new BodyRefused(400));
  payload.on('data', read).on('end', end).on('error', fail);
}
