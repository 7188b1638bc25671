/** Tag lists of the OCI distribution specification: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#listing-tags */
import { isArtifactTag } from '../model/artifact.ts';
import { formatRepository, isTag } from '../model/image-reference.ts';
import type { BudgetedReading } from './answer-budget.ts';
import { unexpectedAnswer } from './answer-errors.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import { nextPage, type Session } from './session.ts';

const pageSize = 1000;
const maxPages = 1000;
/** All tags are in memory until the best one is selected. */
const maxTags = 200_000;
const maxPageBytes = 8 * 1024 * 1024;
/** Each page may take seconds: a slow registry must not occupy a worker for hours. */
const maxMs = 5 * 60_000;
/** The memory of an entry in a Set, without its characters. */
const bytesPerTag = 64;

/** All tags of a repository, without duplicates, invalid names and the tags of artifacts such as signatures. Undefined if the registry does not know the repository (404). */
export async function listTags(session: Session): Promise<string[] | undefined> {
  const { registry, signal, source, budget } = session;
  const what = `listing tags of ${formatRepository(source)}`;
  return budget.run({ what, registry, signal }, (reading) => readPages(what, session, reading));
}

async function readPages(what: string, session: Session, reading: BudgetedReading): Promise<string[] | undefined> {
  const { registry, source, send, clock } = session;
  const { signal } = reading;
  const tags = new Set<string>();
  const seen = new Set<string>();
  const startedAt = clock.now();
  let url: URL | undefined = new URL(`/v2/${source.path}/tags/list?n=${pageSize}`, registry.origin);
  while (url) {
    if (seen.has(url.href)) throw new Error(`${what}: the next page is one that was already read`);
    if (seen.size === maxPages) throw new Error(`${what}: more than ${maxPages} pages`);
    if (clock.now() - startedAt > maxMs) throw new Error(`${what}: it took longer than ${maxMs / 60_000} min (${seen.size} pages so far)`);
    seen.add(url.href);
    const page: HttpRequest = {
      registry,
      kind: 'tags',
      what,
      method: 'GET',
      url,
      headers: {},
      maxBytes: maxPageBytes,
      maxRedirects: 3,
      signal,
      reading,
    };
    const answer = await send(source, page);
    // A missing page is no missing repository.
    if (answer.status === 404 && seen.size === 1) return undefined;
    if (answer.status !== 200) throw unexpectedAnswer(what, answer, clock);
    for (const tag of parsePage(what, answer)) {
      if (tags.has(tag)) continue;
      tags.add(tag);
      reading.grow(tag.length + bytesPerTag);
    }
    signal.throwIfAborted();
    if (tags.size > maxTags) throw new Error(`${what}: more than ${maxTags} tags`);
    url = nextPage(page, answer);
  }
  return [...tags];
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
  const isList = typeof document === 'object' && document !== null && ('tags' in document || 'name' in document);
  if (!isList || !Array.isArray(tags)) throw new Error(`${what}: the answer is not a tag list`);
  return tags.filter((tag) => typeof tag === 'string' && isTag(tag) && !isArtifactTag(tag));
}
