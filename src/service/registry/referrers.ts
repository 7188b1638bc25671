/** Lists the referrers of a manifest: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#listing-referrers */
import { maxJsonBytes } from '../../core/model/bounded-json.ts';
import { formatRepository, isDigest } from '../../core/model/image-reference.ts';
import { unexpectedAnswer } from './answer-errors.ts';
import type { HttpRequest } from './http.ts';
import { nextPage, type Session } from './session.ts';
import { readManifest } from './manifests.ts';
import { type Descriptor, parseManifest } from './parse-manifest.ts';

const maxPages = 20;
const maxPageBytes = maxJsonBytes;
/** The maximum number of hex digits in a fallback tag. With all digits of a sha512 digest, it would be too long for a tag. */
const maxFallbackDigits = 64;
/** The media type of an index of referrers. */
export const indexType = 'application/vnd.oci.image.index.v1+json';
// The statuses that registries without the referrers endpoint answer.
const unsupported = new Set([400, 404, 405, 406, 501]);

/** The referrers of a digest (signatures, attestations), from the endpoint of OCI 1.1, or from its fallback, an index whose tag is derived from the digest. */
export async function listReferrers(session: Session, digest: string, artifactType?: string): Promise<Descriptor[]> {
  if (!isDigest(digest)) return [];
  const found = (await askEndpoint(session, digest, artifactType)) ?? (await readFallback(session, digest));
  // The entries are filtered here as well, because the specification allows registries to ignore the filter.
  return artifactType === undefined ? found : found.filter((entry) => entry.artifactType === artifactType);
}

async function askEndpoint(session: Session, digest: string, artifactType: string | undefined): Promise<Descriptor[] | undefined> {
  const { registry, source, signal, send, clock } = session;
  const what = `listing referrers of ${formatRepository(source)}@${digest}`;
  const found: Descriptor[] = [];
  let url: URL | undefined = new URL(`/v2/${source.path}/referrers/${digest}`, registry.origin);
  if (artifactType !== undefined) url.searchParams.set('artifactType', artifactType);
  for (let page = 0; url; page++) {
    if (page === maxPages) throw new Error(`${what}: more than ${maxPages} pages`);
    const headers = { accept: indexType };
    const call: HttpRequest = {
      registry,
      kind: 'referrers',
      what,
      method: 'GET',
      url,
      headers,
      maxBytes: maxPageBytes,
      maxRedirects: 3,
      signal,
    };
    const answer = await send(source, call);
    if (page === 0 && unsupported.has(answer.status)) return undefined;
    if (answer.status !== 200) throw unexpectedAnswer(what, answer, clock);
    const entries = parseManifest(answer.body)?.manifests;
    // The content type is checked, because some registries answer 200 with an HTML page for unknown paths.
    if (!entries && page === 0 && !answer.headers['content-type']?.startsWith(indexType)) return undefined;
    if (!entries) throw new Error(`${what}: the answer is not an index`);
    found.push(...entries);
    url = nextPage(call, answer);
  }
  return found;
}

async function readFallback(session: Session, digest: string): Promise<Descriptor[]> {
  const manifest = await readManifest(session, fallbackTag(digest));
  return manifest ? (parseManifest(manifest.bytes)?.manifests ?? []) : [];
}

/** The tag of the index of referrers, for registries without the referrers endpoint. */
export function fallbackTag(digest: string): string {
  const [algorithm = '', digits = ''] = digest.split(':');
  return `${algorithm}-${digits.slice(0, maxFallbackDigits)}`;
}
