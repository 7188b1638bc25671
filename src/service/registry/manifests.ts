/** Reads manifests and blobs of the OCI distribution specification: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pull */
import { manifestType } from '../../core/model/media-types.ts';
import { createHash } from 'node:crypto';
import { maxJsonBytes } from '../../core/model/bounded-json.ts';
import { formatRepository, isDigest, isTag } from '../../core/model/image-reference.ts';
import { accessKey } from '../../core/model/image-source.ts';
import { unexpectedAnswer } from './answer-errors.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import { parseManifest } from './parse-manifest.ts';
import type { Session } from './session.ts';

/** The digest that a reference points to now. */
export interface ManifestHead {
  digest: string;
  mediaType?: string;
}

/** A manifest or an index, with the digest of its bytes. */
export interface Manifest {
  readonly digest: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

const accept = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  manifestType,
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
/** The largest manifest that is read or written. */
export const maxManifestBytes = maxJsonBytes;

/** The digest of a tag by HEAD, which no registry counts as a pull. If HEAD returns no digest, it is computed from the bytes of a GET. */
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

/** The bytes of a tag or a digest, checked against the digest of the reference or of the registry's header; undefined for 404. */
export async function readManifest(session: Session, reference: string): Promise<Manifest | undefined> {
  if (!isReference(reference)) return undefined;
  const get = manifestCall('GET', session, reference);
  const answer = await session.send(session.source, get);
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw unexpectedAnswer(get.what, answer, session.clock);
  // The document must be a manifest: the error page of a proxy, answered with 200, must not become the digest of a new image.
  const document = parseManifest(answer.body);
  if (!document) throw new Error(`${get.what}: the answer is not a manifest`);
  const expected = isDigest(reference) ? reference : claimedDigest(answer);
  if (expected !== undefined) checkDigest(get.what, expected, answer.body);
  // The media type in the document takes precedence over a header, because the digest covers it.
  const mediaType = document.mediaType ?? mediaTypeOf(answer) ?? 'application/octet-stream';
  return { digest: expected ?? digestLike(undefined, answer.body), mediaType, bytes: answer.body };
}

/** Whether a text is a tag or a digest. Any other reference cannot exist, and must not become part of a URL. */
function isReference(text: string): boolean {
  return isTag(text) || isDigest(text);
}

/** A request for a manifest. */
export function manifestCall(method: 'HEAD' | 'GET', { registry, source, signal }: Session, reference: string): HttpRequest {
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

/** The digest of the Docker-Content-Digest header; undefined if it is missing or invalid. */
export function claimedDigest({ headers }: HttpAnswer): string | undefined {
  const digest = headers['docker-content-digest'];
  return typeof digest === 'string' && isDigest(digest) ? digest : undefined;
}

/** The digest of bytes, with the algorithm of another digest; sha256 if there is no other. */
export function digestLike(other: string | undefined, bytes: Buffer): string {
  const algorithm = other?.startsWith('sha512:') ? 'sha512' : 'sha256';
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

/** Throws an Error if the bytes do not have the digest. */
export function checkDigest(what: string, digest: string, bytes: Buffer): void {
  const actual = digestLike(digest, bytes);
  if (actual !== digest) throw new Error(`${what}: the digest is ${digest}, but that of the received bytes is ${actual}`);
}

/** Blobs that may be larger than this have more time: a minute for the whole body. */
const smallBytes = 4 * 1024 * 1024;
const largeTimeoutMs = 60_000;

/** The bytes of a blob, checked against its digest; undefined for 404. Registries redirect to their storage, without the credential. */
export async function readBlob(session: Session, digest: string, maxBytes: number): Promise<Buffer | undefined> {
  if (!isDigest(digest)) return undefined;
  const { registry, source, signal } = session;
  const what = `GET blob ${formatRepository(source)}@${digest}`;
  const url = new URL(`/v2/${source.path}/blobs/${digest}`, registry.origin);
  const time = maxBytes > smallBytes ? { timeoutMs: largeTimeoutMs } : {};
  const call: HttpRequest = { registry, kind: 'blob', what, method: 'GET', url, headers: {}, maxBytes, ...time, maxRedirects: 3, signal };
  const answer = await session.send(source, call);
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw unexpectedAnswer(what, answer, session.clock);
  checkDigest(what, digest, answer.body);
  return answer.body;
}
