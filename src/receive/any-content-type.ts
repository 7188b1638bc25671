import type { FastifyInstance } from 'fastify';

/** Hands the exact bytes of every body to the handlers, as authentication needs them, whatever the content type says. */
export function acceptAnyContentType(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // Fastify finds by name much faster than by `*`.
  app.addContentTypeParser(['application/json', '*'], { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  // Fastify answers 415 to a content type that cannot be parsed, and no sender should be turned away for that.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.mediaType === undefined) delete request.raw.headers['content-type'];
    done();
  });
}
