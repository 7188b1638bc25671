/** Writes to registries: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#push. Every write may be repeated. */
import { formatRepository, isDigest, isTag, type Repository } from '../../core/model/image-reference.ts';
import { unexpectedAnswer } from './answer-errors.ts';
import type { Confirm, HttpAnswer, HttpRequest } from './http.ts';
import { checkDigest, claimedDigest, digestLike, type Manifest, maxManifestBytes, readManifest } from './manifests.ts';
import { parseManifest } from './parse-manifest.ts';
import { fallbackTag, indexType } from './referrers.ts';
import { registryUrl, type Session } from './session.ts';

/** What a descriptor says about content. */
export interface Content {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** A manifest to push. */
export interface NewManifest {
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/**
 * Writes to one repository, with credentials of its own. Rejects as `RegistryClient` does; also if the registry answers with a redirect, or with an address at
 * another host to upload to. Contents are addressed by their digests, so writing something twice is harmless.
 */
export interface RegistryPush {
  /** Whether the repository has a blob, by HEAD. */
  hasBlob(digest: string, signal?: AbortSignal): Promise<boolean>;
  /** Lets the repository have a blob of another one in the same registry, without transferring it. False if the registry does not do that. */
  mountBlob(digest: string, from: Repository, signal?: AbortSignal): Promise<boolean>;
  /** Uploads a blob, unless the repository has it. Throws a RangeError above `maxBlobBytes`. Returns its digest. */
  pushBlob(bytes: Buffer, signal?: AbortSignal): Promise<string>;
  /** Writes a manifest under a tag, or under its digest without one; returns its digest. */
  pushManifest(manifest: NewManifest, tag?: string, signal?: AbortSignal): Promise<string>;
  /** Writes a manifest that has a `subject`, by its digest, and adds it to the list of referrers if the registry does not do that itself; returns its digest. */
  pushReferrer(manifest: NewManifest, subject: string, signal?: AbortSignal): Promise<string>;
  /** The bytes that were sent and received in bodies: manifests and small blobs. */
  readonly transferred: Transferred;
}

export interface Transferred {
  readonly uploadedBytes: number;
  readonly mountedBlobs: number;
}

/** Configurations and statements only: layers are mounted. */
export const maxBlobBytes = 4 * 1024 * 1024;
const maxAnswerBytes = 64 * 1024;
const maxReferrers = 1_000;

/** `open` starts a session for each operation, with the credentials for pushing. `confirm` is called before each request that writes is sent. */
export function createPush(
  source: Repository,
  open: (signal: AbortSignal | undefined) => Session,
  run: <T>(request: () => Promise<T>, signal?: AbortSignal) => Promise<T>,
  confirm?: Confirm,
): RegistryPush {
  const transferred = { uploadedBytes: 0, mountedBlobs: 0 };
  const call = (session: Session, request: Call) => sendCall(session, request, request.method === 'HEAD' ? undefined : confirm);

  const has = async (session: Session, digest: string) => {
    const what = `HEAD blob ${formatRepository(source)}@${digest}`;
    const answer = await call(session, { what, method: 'HEAD', path: `blobs/${digest}` });
    if (answer.status === 404) return false;
    // The blob itself may be in another storage, to which only readers are redirected.
    if (answer.status === 200 || answer.status === 307 || answer.status === 302) return true;
    throw unexpectedAnswer(what, answer, session.clock);
  };

  const upload = async (session: Session, digest: string, bytes: Buffer) => {
    const what = `uploading blob ${formatRepository(source)}@${digest}`;
    const started = await call(session, { what, method: 'POST', path: 'blobs/uploads/' });
    if (started.status !== 202) throw unexpectedAnswer(what, started, session.clock);
    const url = uploadUrl(what, started);
    url.searchParams.set('digest', digest);
    const answer = await call(session, { what, method: 'PUT', url, body: bytes, type: 'application/octet-stream' });
    transferred.uploadedBytes += bytes.length;
    if (answer.status === 201) return;
    // A request that was repeated after a lost answer finds its upload completed.
    if (answer.status === 404 && (await has(session, digest))) return;
    throw unexpectedAnswer(what, answer, session.clock);
  };

  const put = async (session: Session, { mediaType, bytes }: NewManifest, tag?: string): Promise<HttpAnswer & { digest: string }> => {
    const digest = digestLike(undefined, bytes);
    if (bytes.length > maxManifestBytes) throw new RangeError(`a manifest of ${bytes.length} bytes is too large`);
    if (tag !== undefined && !isTag(tag)) throw new RangeError(`"${tag}" is not a tag`);
    const what = `PUT manifest of ${formatRepository(source)}${tag === undefined ? `@${digest}` : `:${tag}`}`;
    const answer = await call(session, { what, method: 'PUT', path: `manifests/${tag ?? digest}`, body: bytes, type: mediaType });
    if (answer.status !== 201 && answer.status !== 200) throw unexpectedAnswer(what, answer, session.clock);
    const claimed = claimedDigest(answer);
    if (claimed !== undefined) checkDigest(what, claimed, bytes);
    transferred.uploadedBytes += bytes.length;
    return { ...answer, digest };
  };

  return {
    transferred,
    hasBlob: (digest, signal) => run(() => has(open(signal), digest), signal),
    mountBlob: (digest, from, signal) =>
      run(async () => {
        if (!isDigest(digest) || from.registry !== source.registry) return false;
        const session = open(signal);
        const what = `mounting blob ${digest} of ${formatRepository(from)} into ${formatRepository(source)}`;
        const url = registryUrl(session, 'blobs/uploads/');
        url.searchParams.set('mount', digest);
        url.searchParams.set('from', from.path);
        const answer = await call(session, { what, method: 'POST', url, alsoReads: from.path });
        if (answer.status === 201) transferred.mountedBlobs++;
        // 202: the registry waits for the bytes. The upload is left to expire.
        if (answer.status === 201 || answer.status === 202) return answer.status === 201;
        throw unexpectedAnswer(what, answer, session.clock);
      }, signal),
    pushBlob: (bytes, signal) =>
      run(async () => {
        if (bytes.length > maxBlobBytes) throw new RangeError(`a blob of ${bytes.length} bytes is too large`);
        const session = open(signal);
        const digest = digestLike(undefined, bytes);
        if (!(await has(session, digest))) await upload(session, digest, bytes);
        return digest;
      }, signal),
    pushManifest: (manifest, tag, signal) => run(async () => (await put(open(signal), manifest, tag)).digest, signal),
    pushReferrer: (manifest, subject, signal) =>
      run(async () => {
        const session = open(signal);
        const { digest, headers } = await put(session, manifest);
        // The registry confirms by this header that it lists the manifest itself.
        if (headers['oci-subject'] !== undefined) return digest;
        const tag = fallbackTag(subject);
        const index = addReferrer(await readManifest(session, tag), { ...manifest, digest });
        if (index !== undefined) await put(session, index, tag);
        return digest;
      }, signal),
  };
}

type Call = Pick<HttpRequest, 'what' | 'method' | 'alsoReads'> & {
  readonly body?: Buffer;
  readonly type?: string;
} & ({ readonly path: string } | { readonly url: URL });

/** Credentials for pushing are sent to the registry alone: redirects are not followed. */
async function sendCall(
  session: Session,
  { what, method, body, type, alsoReads, ...to }: Call,
  confirm: Confirm | undefined,
): Promise<HttpAnswer> {
  const { registry, source, signal } = session;
  const url = 'url' in to ? to.url : registryUrl(session, to.path);
  return session.send(source, {
    registry,
    kind: 'push',
    what,
    method,
    url,
    headers: type === undefined ? {} : { 'content-type': type },
    ...(body !== undefined && { body }),
    alsoReads,
    maxBytes: maxAnswerBytes,
    maxRedirects: 0,
    confirm,
    signal,
  });
}

/** Where a registry wants the bytes of a blob: only at its own host. */
function uploadUrl(what: string, { headers, url: asked }: HttpAnswer): URL {
  const { location = '' } = headers;
  if (location === '' || !URL.canParse(location, asked.href)) throw new Error(`${what}: the registry does not say where to upload to`);
  const url = new URL(location, asked);
  // Registries behind a TLS-terminating proxy write http: into absolute addresses: only the host is compared, and the scheme is kept.
  url.protocol = asked.protocol;
  if (url.origin !== asked.origin || url.username !== '' || url.password !== '') {
    throw new Error(`${what}: the registry wants the upload at another host, ${url.host}, which would get the credentials`);
  }
  return url;
}

/** The index of referrers with one more entry; undefined if it has that entry. */
function addReferrer(known: Manifest | undefined, { mediaType, bytes, digest }: NewManifest & { digest: string }): NewManifest | undefined {
  const entries = (known && parseManifest(known.bytes)?.manifests) ?? [];
  if (entries.some((entry) => entry.digest === digest)) return undefined;
  if (entries.length >= maxReferrers) throw new Error(`the index of referrers has ${entries.length} entries, and gets no more`);
  const { artifactType, annotations } = parseManifest(bytes) ?? {};
  const entry = { mediaType, digest, size: bytes.length, ...(artifactType && { artifactType }), ...(annotations && { annotations }) };
  const index = { schemaVersion: 2, mediaType: indexType, manifests: [...entries, entry] };
  return { mediaType: indexType, bytes: Buffer.from(JSON.stringify(index)) };
}
