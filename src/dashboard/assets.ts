/** The files that pages load. None of them comes from another host. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly file: () => string;
}

const own = (name: string) => () => fileURLToPath(new URL(`assets/${name}`, import.meta.url));

const assets: readonly Asset[] = [
  { path: '/assets/dashboard.css', type: 'text/css; charset=utf-8', file: own('dashboard.css') },
  { path: '/assets/dashboard.js', type: 'text/javascript; charset=utf-8', file: own('dashboard.js') },
  { path: '/assets/icon.svg', type: 'image/svg+xml', file: own('icon.svg') },
  { path: '/assets/idiomorph.js', type: 'text/javascript; charset=utf-8', file: () => fileURLToPath(import.meta.resolve('idiomorph')) },
];

/** Adds a route for each file. The file is read at its first request. */
export function addAssets(app: FastifyInstance): void {
  for (const { path, type, file } of assets) {
    let known: { readonly text: string; readonly tag: string } | undefined;
    app.get(path, async (request, reply) => {
      known ??= tagged(await readFile(file(), 'utf8'));
      reply.headers({ etag: known.tag, 'cache-control': 'no-cache' });
      if (request.headers['if-none-match'] === known.tag) return reply.code(304).send();
      return reply.type(type).send(known.text);
    });
  }
}

function tagged(text: string): { readonly text: string; readonly tag: string } {
  // Weak, because the compressed file has the same.
  return { text, tag: `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}
