/** Tag lists of the OCI distribution specification: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#listing-tags */
import { formatRepository, isTag } from '../core/image-reference.ts';
import { accessKey } from '../core/image-source.ts';
import { unexpectedAnswer } from './answer-errors.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import type { KnownPage, KnownPages } from './known-pages.ts';
import { nextPage } from './next-page.ts';
import type { Session } from './session.ts';

const pageSize = 1000;
const maxPages = 1000;
const lastModifiedMarginMs = 60_000;
const maxPageBytes = 8 * 1024 * 1024;

/**
 * All tags of a repository, page by page, without doubles and without what is no tag; undefined when the registry does not know it. Pages that
 * the registry says have not changed (304) are not sent again.
 */
export async function listTags(session: Session, known: KnownPages): Promise<string[] | undefined> {
  const { registry, source } = session;
  const what = `listing tags of ${formatRepository(source)}`;
  const tags = new Set<string>();
  const seen = new Set<string>();
  let url: URL | undefined = new URL(`/v2/${source.path}/tags/list?n=${pageSize}`, registry.origin);
  while (url) {
    if (seen.has(url.href)) throw new Error(`${what}: the registry's pages go round in a circle`);
    if (seen.size === maxPages) throw new Error(`${what}: more than ${maxPages} pages`);
    seen.add(url.href);
    const page = await readPage(what, url, session, known);
    if (!page) return undefined;
    for (const tag of page.tags) tags.add(tag);
    url = page.next === undefined ? undefined : new URL(page.next);
  }
  return [...tags];
}

async function readPage(what: string, url: URL, session: Session, pages: KnownPages): Promise<KnownPage | undefined> {
  const { registry, source, signal, send, clock } = session;
  const key = `${url.href} ${accessKey(source)}`;
  const known = pages.get(key);
  const call: HttpRequest = {
    registry,
    kind: 'tags',
    what,
    method: 'GET',
    url,
    headers: known?.condition ?? {},
    maxBytes: maxPageBytes,
    maxRedirects: 3,
    signal,
  };
  const answer = await send(source, call);
  if (answer.status === 304 && known) return known;
  // What is not there any more may come back as something else.
  pages.delete(key);
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw unexpectedAnswer(what, answer, clock);
  const page: KnownPage = { tags: parsePage(what, answer), next: nextPage(what, answer, url)?.href, condition: conditionOf(answer) };
  if (Object.keys(page.condition).length > 0) pages.set(key, page);
  return page;
}

/** A time has whole seconds: it is worth something only when the second was over, or what was pushed in the rest of it would never be seen. */
function conditionOf({ headers }: HttpAnswer): Readonly<Record<string, string>> {
  const { etag, 'last-modified': lastModified = '', date = '' } = headers;
  if (etag !== undefined) return { 'if-none-match': etag };
  return Date.parse(date) - Date.parse(lastModified) >= lastModifiedMarginMs ? { 'if-modified-since': lastModified } : {};
}

function parsePage(what: string, { body }: HttpAnswer): string[] {
  let document: { tags?: unknown } | null;
  try {
    document = JSON.parse(body.toString('utf8')) as typeof document;
  } catch (error) {
    throw new Error(`${what}: the answer is not valid JSON`, { cause: error });
  }
  // An empty repository has `"tags": null` in older registries.
  const tags = document?.tags ?? [];
  if (typeof document !== 'object' || document === null || !Array.isArray(tags)) throw new Error(`${what}: the answer is not a tag list`);
  return tags.filter((tag) => typeof tag === 'string' && isTag(tag));
}
