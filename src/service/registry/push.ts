/** Writes to registries: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#push. Every write may be repeated. */
import { defined } from '../../core/model/defined.ts';
import { PermanentError } from '../../core/model/errors.ts';
import { formatRepository, isDigest, isTag, type Repository } from '../../core/model/image-reference.ts';
import { unexpectedAnswer } from './answer-errors.ts';
import type { Confirm, HttpAnswer, HttpRequest } from './http.ts';
import { checkDigest, claimedDigest, digestLike, type Manifest, maxManifestBytes, readManifest } from './manifests.ts';
import { parseManifest } from './parse-manifest.ts';
import { fallbackTag, indexType } from './referrers.ts';
import { registryUrl, type Session } from './session.ts';

/** A manifest to push. */
export interface NewManifest {
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/**
 * Writes to one repository, with credentials of its own. Rejects as `RegistryClient` does; also if the registry answers with a redirect, or with an upload
 * address at another host. Contents are addressed by their digests, so writing something twice is harmless.
 */
export interface RegistryPush {
  /** Whether the repository has a blob, by HEAD. */
  hasBlob(digest: string, signal?: AbortSignal): Promise<boolean>;
  /** Mounts a blob of another repository of the same registry, without transferring it. False if the registry does not do that. */
  mountBlob(digest: string, from: Repository, signal?: AbortSignal): Promise<boolean>;
  /** Uploads a blob, unless the repository has it. Throws a RangeError above `maxBlobBytes`. Returns its digest. */
  pushBlob(bytes: Buffer, signal?: AbortSignal): Promise<string>;
  /** Writes a manifest under a tag or, without one, under its digest; returns its digest. */
  pushManifest(manifest: NewManifest, tag?: string, signal?: AbortSignal): Promise<string>;
  /** Writes a manifest that has a `subject`, by its digest, and adds it to the list of referrers if the registry does not do so; returns its digest. */
  pushReferrer(manifest: NewManifest, subject: string, signal?: AbortSignal): Promise<string>;
  /** Deletes a tag, and nothing that has another name. False if the registry or the credentials do not allow that. */
  deleteTag(tag: string, signal?: AbortSignal): Promise<boolean>;
  /** The number of bytes that were sent and received in bodies: manifests and small blobs. */
  readonly transferred: Transferred;
}

export interface Transferred {
  readonly uploadedBytes: number;
  readonly mountedBlobs: number;
}

/** The limit for the size of a blob. Only configurations and statements are uploaded; layers are mounted. */
const maxBlobBytes = 4 * 1024 * 1024;
const maxAnswerBytes = 64 * 1024;
const maxReferrers = 1_000;

/** Creates a push. `open` starts a session for each operation, with the credentials for pushing. `confirm` is called before each request that writes. */
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
    // A redirect means that the blob exists: it may be in another storage, to which only readers are redirected.
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
    // If the answer was lost, the repeated request finds its upload completed.
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
        // With 202, the registry has not mounted the blob and waits for its bytes. This upload is left to expire.
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
        // With this header, the registry confirms that it lists the manifest itself.
        if (headers['oci-subject'] !== undefined) return digest;
        const tag = fallbackTag(subject);
        const index = addReferrer(await readManifest(session, tag), { ...manifest, digest });
        if (index !== undefined) await put(session, index, tag);
        return digest;
      }, signal),
    deleteTag: (tag, signal) =>
      run(async () => {
        const session = open(signal);
        return deleteTag((request) => call(session, request), session, tag);
      }, signal),
  };
}

/** The answers of registries that delete no tags (405, or 400 where only digests are deleted), or not with these credentials (401, 403). */
const keepsTag: ReadonlySet<number> = new Set([400, 401, 403, 405]);

async function deleteTag(call: (request: Call) => Promise<HttpAnswer>, session: Session, tag: string): Promise<boolean> {
  if (!isTag(tag)) throw new RangeError(`"${tag}" is not a tag`);
  const what = `DELETE tag ${formatRepository(session.source)}:${tag}`;
  try {
    const answer = await call({ what, method: 'DELETE', path: `manifests/${tag}` });
    if (answer.status === 404) return true;
    if (keepsTag.has(answer.status)) return false;
    if (answer.status !== 202 && answer.status !== 200 && answer.status !== 204) throw unexpectedAnswer(what, answer, session.clock);
    return true;
  } catch (error) {
    if (error instanceof PermanentError && error.reason === 'RegistryDenied') return false;
    throw error;
  }
}

type Call = Pick<HttpRequest, 'what' | 'method' | 'alsoReads'> & {
  readonly body?: Buffer;
  readonly type?: string;
} & ({ readonly path: string } | { readonly url: URL });

/** Sends a request with the credentials for pushing. They are for the registry alone, so redirects are not followed. */
async function sendCall(
  session: Session,
  { what, method, body, type, alsoReads, ...to }: Call,
  confirm: Confirm | undefined,
): Promise<HttpAnswer> {
  const { registry, source, signal } = session;
  const url = 'url' in to ? to.url : registryUrl(session, to.path);
  return session.send(source, {
    registry,
    kind: method === 'DELETE' ? 'delete' : 'push',
    what,
    method,
    url,
    headers: type === undefined ? {} : { 'content-type': type },
    ...defined({ body }),
    alsoReads,
    maxBytes: maxAnswerBytes,
    maxRedirects: 0,
    confirm,
    signal,
  });
}

/** The upload address of a blob, which must be at the registry's own host. */
function uploadUrl(what: string, { headers, url: asked }: HttpAnswer): URL {
  const { location = '' } = headers;
  if (location === '' || !URL.canParse(location, asked.href)) throw new Error(`${what}: the registry does not say where to upload to`);
  const url = new URL(location, asked);
  // Only the host is compared, and the scheme is kept: registries behind a TLS-terminating proxy write http: into absolute addresses.
  url.protocol = asked.protocol;
  if (url.origin !== asked.origin || url.username !== '' || url.password !== '') {
    throw new Error(`${what}: the registry wants the upload at another host, ${url.host}, which would get the credentials`);
  }
  return url;
}

/** The index of referrers with one more entry; undefined if it already has that entry. */
function addReferrer(known: Manifest | undefined, { mediaType, bytes, digest }: NewManifest & { digest: string }): NewManifest | undefined {
  const entries = (known && parseManifest(known.bytes)?.manifests) ?? [];
  if (entries.some((entry) => entry.digest === digest)) return undefined;
  if (entries.length >= maxReferrers) throw new Error(`the index of referrers has ${entries.length} entries, and gets no more`);
  const { artifactType, annotations } = parseManifest(bytes) ?? {};
  const entry = { mediaType, digest, size: bytes.length, ...(artifactType && { artifactType }), ...(annotations && { annotations }) };
  const index = { schemaVersion: 2, mediaType: indexType, manifests: [...entries, entry] };
  return { mediaType: indexType, bytes: Buffer.from(JSON.stringify(index)) };
}
