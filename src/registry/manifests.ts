/** Manifests of the OCI distribution specification: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests */
import { createHash } from 'node:crypto';
import { formatRepository, isDigest, isTag } from '../core/image-reference.ts';
import type { ImageSource } from '../core/image-source.ts';
import { type Clock, unexpectedAnswer } from './answer-errors.ts';
import type { AuthenticatedHttp } from './authentication.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import type { Registry } from './registries.ts';

/** What a tag points at now. */
export interface ManifestHead {
  digest: string;
  mediaType?: string;
}

export interface ManifestRequest {
  registry: Registry;
  source: ImageSource;
  tag: string;
  signal?: AbortSignal | undefined;
}

const accept = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const maxManifestBytes = 4 * 1024 * 1024;

/** The digest of a tag by HEAD, which no registry counts as a pull; by GET and the bytes' own digest where HEAD does not tell. */
export async function headManifest(send: AuthenticatedHttp, clock: Clock, request: ManifestRequest): Promise<ManifestHead | undefined> {
  // What is no tag cannot exist, and must not become part of a path.
  if (!isTag(request.tag)) return undefined;
  const head = manifestCall('HEAD', request);
  const answer = await send(request.source, head);
  if (answer.status === 404) return undefined;
  if (answer.status === 405 || answer.status === 501) return getManifest(send, clock, request);
  if (answer.status !== 200) throw unexpectedAnswer(head.what, answer, clock);
  const digest = digestHeader(answer);
  return digest === undefined ? getManifest(send, clock, request) : withMediaType(digest, answer);
}

async function getManifest(send: AuthenticatedHttp, clock: Clock, request: ManifestRequest): Promise<ManifestHead | undefined> {
  const get = manifestCall('GET', request);
  const answer = await send(request.source, get);
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw unexpectedAnswer(get.what, answer, clock);
  // A proxy's page answered with 200 must not become the digest of a new image.
  if (!isManifest(answer.body)) throw new Error(`${get.what}: the answer is not a manifest`);
  const claimed = digestHeader(answer);
  const digest = digestOf(answer.body, claimed?.startsWith('sha512:') ? 'sha512' : 'sha256');
  if (claimed !== undefined && claimed !== digest)
    throw new Error(`${get.what}: the registry says ${claimed}, but the bytes are ${digest}`);
  return withMediaType(digest, answer);
}

function manifestCall(method: 'HEAD' | 'GET', { registry, source, tag, signal }: ManifestRequest): HttpRequest {
  const what = `${method} manifest of ${formatRepository(source)}:${tag}`;
  const url = new URL(`/v2/${source.path}/manifests/${tag}`, registry.origin);
  return { registry, kind: 'manifest', what, method, url, headers: { accept }, maxBytes: maxManifestBytes, maxRedirects: 3, signal };
}

function digestHeader({ headers }: HttpAnswer): string | undefined {
  const digest = headers['docker-content-digest'];
  return typeof digest === 'string' && isDigest(digest) ? digest : undefined;
}

function digestOf(bytes: Buffer, algorithm: 'sha256' | 'sha512'): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

function withMediaType(digest: string, { headers }: HttpAnswer): ManifestHead {
  const mediaType = headers['content-type']?.split(';')[0]?.trim();
  return { digest, ...(mediaType && { mediaType }) };
}

function isManifest(bytes: Buffer): boolean {
  try {
    return (JSON.parse(bytes.toString('utf8')) as { schemaVersion?: unknown } | null)?.schemaVersion === 2;
  } catch {
    return false;
  }
}
