/** The HTTP API of the registry: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#endpoints */
import { parseManifest } from '../../src/service/registry/parse-manifest.ts';
import { indexType } from '../../src/service/registry/referrers.ts';
import type { HttpReply, HttpServer, SentHttpRequest } from './http-connection.ts';
import { sha256 } from './image-content.ts';
import { registryHost } from './images.ts';
import type { Registry, RegistryStore } from './registry.ts';
import { allows, challenge, giveToken, scopesOf } from './registry-tokens.ts';

/** A request to a repository, by its path and its name with the host. */
interface Call extends SentHttpRequest {
  readonly path: string;
  readonly repository: string;
  /** A tag, a digest, or the id of an upload. */
  readonly name: string;
  readonly scopes: readonly string[];
}

type Serve = (call: Call) => HttpReply;

const pauseSeconds = 3;

/** Creates the server; a process reaches it through connections of its own. */
export function createRegistryServer(registry: Registry, now: () => number): HttpServer {
  const { store } = registry;
  const serves: Readonly<Record<string, Serve>> = { ...createReads(registry), ...createWrites(store) };
  return {
    name: 'registry',
    describe({ method, url }) {
      const kind = partsOf(url)?.kind ?? 'token';
      return `${method} ${kind === 'upload' ? 'blob' : kind}`;
    },
    serve(request) {
      const { method, url, headers } = request;
      if (url.host !== registryHost) throw new Error(`the simulation has no host ${url.host}`);
      if (url.pathname === '/token') {
        const token = giveToken(headers['authorization'], url.searchParams.getAll('scope'), now());
        return token === undefined ? refusal(401, 'UNAUTHORIZED') : json(token);
      }
      const scopes = scopesOf(headers['authorization'], now());
      const parts = partsOf(url);
      if (parts === undefined)
        return scopes.length > 0 ? json({}) : refusal(401, 'UNAUTHORIZED', { 'www-authenticate': challenge(undefined) });
      const { path, kind, name } = parts;
      const action = method === 'GET' || method === 'HEAD' ? 'pull' : method === 'DELETE' ? 'delete' : 'push';
      if (!allows(scopes, path, action)) {
        const actions = action === 'pull' ? 'pull' : 'pull,push';
        return refusal(401, 'UNAUTHORIZED', { 'www-authenticate': challenge(`repository:${path}:${actions}`) });
      }
      const serve = serves[`${method} ${kind}`];
      return serve?.({ ...request, path, repository: `${registryHost}/${path}`, name, scopes }) ?? refusal(405, 'UNSUPPORTED');
    },
    refuse: (kind) =>
      kind === 'throttled' ? refusal(429, 'TOOMANYREQUESTS', { 'retry-after': String(pauseSeconds) }) : refusal(503, 'UNAVAILABLE'),
  };
}

function partsOf({ pathname }: URL): { readonly path: string; readonly kind: string; readonly name: string } | undefined {
  const [, path, place = '', name = ''] = /^\/v2\/(.+)\/(manifests|tags|blobs\/uploads|blobs|referrers)\/([^/]*)$/.exec(pathname) ?? [];
  const kinds: Readonly<Record<string, string>> = { manifests: 'manifest', 'blobs/uploads': 'upload', blobs: 'blob' };
  return path === undefined ? undefined : { path, kind: kinds[place] ?? place, name };
}

function createReads({ store, tags }: Registry): Readonly<Record<string, Serve>> {
  const readManifest: Serve = ({ repository, name }) => {
    const found = store.manifest(repository, name);
    if (found === undefined) return refusal(404, 'MANIFEST_UNKNOWN');
    return { status: 200, headers: { 'content-type': found.mediaType, 'docker-content-digest': found.digest }, body: found.bytes };
  };
  return {
    'HEAD manifest': readManifest,
    'GET manifest': readManifest,
    'GET tags'({ path, repository, headers }) {
      const found = [...tags(repository).keys()];
      if (found.length === 0) return refusal(404, 'NAME_UNKNOWN');
      const list = json({ name: path, tags: found });
      const etag = `"${sha256(list.body)}"`;
      const isSame = headers['if-none-match'] === etag;
      return isSame ? { status: 304, headers: { etag }, body: nothing } : { ...list, headers: { ...list.headers, etag } };
    },
    'HEAD blob': ({ repository, name }) =>
      store.hasBlob(repository, name) ? { status: 200, headers: {}, body: nothing } : refusal(404, 'BLOB_UNKNOWN'),
    'GET blob'({ repository, name }) {
      const body = store.blob(repository, name);
      if (body === undefined) return refusal(404, 'BLOB_UNKNOWN');
      return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body };
    },
    'GET referrers'({ repository, name }) {
      const manifests = store.manifests(repository).flatMap(({ digest, mediaType, bytes }) => {
        const { artifactType, annotations } = parseManifest(bytes) ?? {};
        return subjectOf(bytes) === name ? [{ mediaType, digest, size: bytes.length, artifactType, annotations }] : [];
      });
      return json({ schemaVersion: 2, mediaType: indexType, manifests }, indexType);
    },
  };
}

function createWrites(store: RegistryStore): Readonly<Record<string, Serve>> {
  const uploads = new Set<string>();
  let count = 0;
  return {
    'POST upload'({ path, repository, url, scopes }) {
      const [mount, from] = [url.searchParams.get('mount'), url.searchParams.get('from') ?? ''];
      if (mount !== null && allows(scopes, from, 'pull') && store.mount(repository, mount, `${registryHost}/${from}`))
        return { status: 201, headers: { location: `/v2/${path}/blobs/${mount}` }, body: nothing };
      const id = `upload-${++count}`;
      uploads.add(`${repository} ${id}`);
      return { status: 202, headers: { location: `/v2/${path}/blobs/uploads/${id}` }, body: nothing };
    },
    'PUT upload'({ repository, name, url, body }) {
      if (!uploads.has(`${repository} ${name}`)) return refusal(404, 'BLOB_UPLOAD_UNKNOWN');
      if (sha256(body) !== url.searchParams.get('digest')) return refusal(400, 'DIGEST_INVALID');
      uploads.delete(`${repository} ${name}`);
      store.putBlob(repository, body);
      return { status: 201, headers: {}, body: nothing };
    },
    'PUT manifest'({ repository, name, headers, body, sentAt }) {
      const { config, layers = [] } = parseManifest(body) ?? {};
      const needed = [config, ...layers].flatMap((one) => one?.digest ?? []);
      if (!needed.every((digest) => store.hasBlob(repository, digest))) return refusal(404, 'MANIFEST_BLOB_UNKNOWN');
      const isTag = !name.startsWith('sha256:');
      if (!isTag && sha256(body) !== name) return refusal(400, 'DIGEST_INVALID');
      const digest = store.putManifest(
        repository,
        { mediaType: headers['content-type'] ?? '', bytes: body },
        isTag ? name : undefined,
        sentAt,
      );
      const subject = subjectOf(body);
      return {
        status: 201,
        headers: { 'docker-content-digest': digest, ...(subject !== undefined && { 'oci-subject': subject }) },
        body: nothing,
      };
    },
    'DELETE manifest': ({ repository, name }) =>
      store.deleteTag(repository, name) ? { status: 202, headers: {}, body: nothing } : refusal(404, 'MANIFEST_UNKNOWN'),
  };
}

const nothing = Buffer.alloc(0);

function json(document: object, type = 'application/json'): HttpReply {
  return { status: 200, headers: { 'content-type': type }, body: Buffer.from(JSON.stringify(document)) };
}

function refusal(status: number, code: string, headers: Readonly<Record<string, string>> = {}): HttpReply {
  const document = { errors: [{ code, message: 'simulated' }] };
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: Buffer.from(JSON.stringify(document)) };
}

function subjectOf(manifest: Buffer): string | undefined {
  const { subject } = JSON.parse(manifest.toString()) as { readonly subject?: { readonly digest?: string } };
  return subject?.digest;
}
