/** A session with the registry of a repository, and the URLs of its resources and pages. */
import type { ImageSource } from '../../core/model/image-source.ts';
import type { AnswerBudget } from './answer-budget.ts';
import type { Clock } from './answer-errors.ts';
import type { AuthenticatedHttp } from './authentication.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import type { Registry } from './registries.ts';

/** Everything that requests for a repository share: its registry, the access on whose behalf they are sent, and the function that sends them. */
export interface Session {
  readonly send: AuthenticatedHttp;
  readonly clock: Clock;
  readonly budget: AnswerBudget;
  readonly registry: Registry;
  readonly source: ImageSource;
  readonly signal?: AbortSignal | undefined;
}

/** The URL of a resource of the repository, such as `manifests/1.2`. */
export function registryUrl({ registry, source }: Session, path: string): URL {
  return new URL(`/v2/${source.path}/${path}`, registry.origin);
}

/**
 * The URL of the next page by the Link header of an answer to a request; undefined for the last page. The link is resolved against the URL that answered, and
 * leads to that host or to the registry itself. Of a link to any other host, which the registry itself has sent, path and query are used at the registry: proxies
 * that do not pass the Host header on make registries write their internal name into links.
 */
export function nextPage({ what, registry }: HttpRequest, { headers, url }: HttpAnswer): URL | undefined {
  const link = tryNextLink(what, headers.link);
  if (link === undefined) return undefined;
  if (!URL.canParse(link, url.href)) throw new Error(`${what}: the link to the next page is not a URL`);
  const next = new URL(link, url);
  const homes = [url, new URL(registry.origin)];
  // Registries behind a proxy write http: into absolute links, or omit the port: then only the name of the host is compared.
  const named = homes.find(({ host }) => host === next.host) ?? homes.find(({ hostname }) => hostname === next.hostname);
  const home = named ?? (url.origin === registry.origin ? url : undefined);
  if (home === undefined) throw new Error(`${what}: the link to the next page leads to another host, ${next.host}`);
  return new URL(next.pathname + next.search, home.origin);
}

function tryNextLink(what: string, header: string | string[] | undefined): string | undefined {
  try {
    return nextLink(header);
  } catch (error) {
    throw new Error(`${what}: the list may be incomplete`, { cause: error });
  }
}

/**
 * The target of `rel="next"` in Link headers (RFC 8288), unresolved; undefined if there is none. If no link has that relation, one without any relation counts:
 * some registries write that, and nobody would notice a list that ends too early. Throws an Error if the header cannot be parsed.
 */
export function nextLink(header: string | readonly string[] | undefined): string | undefined {
  const text = header === undefined ? '' : typeof header === 'string' ? header : header.join(',');
  let unnamed: string | undefined;
  let links = 0;
  // A target may contain commas and semicolons, so the header cannot be split at them.
  for (const [, target, parameters = ''] of text.matchAll(/<([^<>]*)>((?:[^<>"]|"[^"]*")*)/g)) {
    const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters);
    links++;
    if (relation === null) unnamed ??= target;
    else if ((relation[1] ?? relation[2] ?? '').toLowerCase().split(/\s+/).includes('next')) return target;
  }
  if (links === 0 && text.trim() !== '') throw new Error('the Link header cannot be read');
  return unnamed || undefined;
}
