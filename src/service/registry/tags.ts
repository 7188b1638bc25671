/** Lists tags by the OCI distribution specification: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#listing-tags */
import { isArtifactTag } from '../../core/model/artifact.ts';
import { describeError } from '../../core/model/errors.ts';
import { formatRepository, isTag } from '../../core/model/image-reference.ts';
import type { BudgetedReading } from './answer-budget.ts';
import { unexpectedAnswer } from './answer-errors.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import { nextPage, type Session } from './session.ts';
import { readTagPage } from './tag-page.ts';

const pageSize = 1000;
const maxPages = 1000;
/** The limit for the tags of a repository. All of them are in memory until the best one is selected. */
const maxTags = 200_000;
const maxPageBytes = 8 * 1024 * 1024;
/** The time limit for a list. Each page may take seconds, and a slow registry must not occupy a worker for hours. */
const maxMs = 5 * 60_000;
/** The memory of an entry in a Set, without its characters, in bytes. */
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
    // Only a 404 for the first page means that the repository is missing; a later page may be missing for other reasons.
    if (answer.status === 404 && seen.size === 1) return undefined;
    if (answer.status !== 200) throw unexpectedAnswer(what, answer, clock);
    for await (const entries of readPage(what, answer)) {
      for (const tag of entries) {
        if (typeof tag !== 'string' || !isTag(tag) || isArtifactTag(tag) || tags.has(tag)) continue;
        tags.add(tag);
        reading.grow(tag.length + bytesPerTag);
      }
      signal.throwIfAborted();
      if (tags.size > maxTags) throw new Error(`${what}: more than ${maxTags} tags`);
    }
    url = nextPage(page, answer);
  }
  return [...tags];
}

async function* readPage(what: string, { body }: HttpAnswer): AsyncGenerator<readonly unknown[]> {
  try {
    yield* readTagPage(body);
  } catch (error) {
    throw new Error(`${what}: ${describeError(error)}`, { cause: error });
  }
}
