import type { HttpAnswer } from './http.ts';
import { nextLink } from './link-header.ts';

/** Where an answer's Link header says the next page is, on the same host; undefined for the last page. */
export function nextPage(what: string, { headers }: HttpAnswer, current: URL): URL | undefined {
  const link = tryNextLink(what, headers.link);
  if (link === undefined) return undefined;
  if (!URL.canParse(link, current.href)) throw new Error(`${what}: the link to the next page is not a URL`);
  const next = new URL(link, current);
  // Registries behind a proxy that ends TLS write http: into absolute links; the host is what counts, the scheme stays ours.
  next.protocol = current.protocol;
  if (next.origin !== current.origin) throw new Error(`${what}: the link to the next page leads to another host, ${next.host}`);
  return next;
}

function tryNextLink(what: string, header: string | string[] | undefined): string | undefined {
  try {
    return nextLink(header);
  } catch (error) {
    throw new Error(`${what}: the registry may hold more than it shows`, { cause: error });
  }
}
