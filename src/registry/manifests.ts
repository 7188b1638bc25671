/** Manifests of the OCI distribution specification: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests */
import { formatRepository, isDigest, isTag } from '../model/image-reference.ts';
import { accessKey } from '../model/image-source.ts';
import { unexpectedAnswer } from './answer-errors.ts';
import { checkDigest, claimedDigest, digestLike } from './content-digest.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import { parseManifest } from './parse-manifest.ts';
import type { Session } from './session.ts';

/** What a reference points at now. */
export interface ManifestHead {
  digest: string;
  mediaType?: string;
}

/** A manifest or an index; the digest is that of the bytes. */
export interface Manifest {
  readonly digest: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

const accept = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const maxManifestBytes = 4 * 1024 * 1024;

/** The digest of a tag by HEAD, which no registry counts as a pull; by GET and the bytes' own digest where HEAD does not tell. */
export async function headManifest(session: Session, reference: string): Promise<ManifestHead | undefined> {
  if (!isReference(reference)) return undefined;
  const head = manifestCall('HEAD', session, reference);
  const answer = await session.send(session.source, head);
  if (answer.status === 404) return undefined;
  if (answer.status !== 405 && answer.status !== 501) {
    if (answer.status !== 200) throw unexpectedAnswer(head.what, answer, session.clock);
    const digest = claimedDigest(answer);
    if (digest !== undefined) return withMediaType(digest, answer);
  }
  const manifest = await readManifest(session, reference);
  return manifest && { digest: manifest.digest, mediaType: manifest.mediaType };
}

/** The bytes of a tag or a digest, checked against what the reference or the registry says of them; undefined for 404. */
export async function readManifest(session: Session, reference: string): Promise<Manifest | undefined> {
  if (!isReference(reference)) return undefined;
  const get = manifestCall('GET', session, reference);
  const answer = await session.send(session.source, get);
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw unexpectedAnswer(get.what, answer, session.clock);
  // A proxy's page answered with 200 must not become the digest of a new image.
  const document = parseManifest(answer.body);
  if (!document) throw new Error(`${get.what}: the answer is not a manifest`);
  const expected = isDigest(reference) ? reference : claimedDigest(answer);
  if (expected !== undefined) checkDigest(get.what, expected, answer.body);
  // What the digest covers counts more than a header.
  const mediaType = document.mediaType ?? mediaTypeOf(answer) ?? 'application/octet-stream';
  return { digest: expected ?? digestLike(undefined, answer.body), mediaType, bytes: answer.body };
}

/** What is neither tag nor digest cannot exist, and must not become part of a path. */
function isReference(text: string): boolean {
  return isTag(text) || isDigest(text);
}

function manifestCall(method: 'HEAD' | 'GET', { registry, source, signal }: Session, reference: string): HttpRequest {
  const what = `${method} manifest of ${formatRepository(source)}${isDigest(reference) ? '@' : ':'}${reference}`;
  const url = new URL(`/v2/${source.path}/manifests/${reference}`, registry.origin);
  const account = accessKey(source);
  return {
    registry,
    kind: 'manifest',
    what,
    method,
    url,
    headers: { accept },
    account,
    maxBytes: maxManifestBytes,
    maxRedirects: 3,
    signal,
  };
}

function withMediaType(digest: string, answer: HttpAnswer): ManifestHead {
  const mediaType = mediaTypeOf(answer);
  return { digest, ...(mediaType && { mediaType }) };
}

function mediaTypeOf({ headers }: HttpAnswer): string | undefined {
  return headers['content-type']?.split(';')[0]?.trim() || undefined;
}
