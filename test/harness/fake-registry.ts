import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A request as it arrived; `path` includes the query, `condition` is what it must not match, `scanTypes` the header X-Accept-Vulnerabilities of Harbor. */
export type FakeRequest = { method: string; path: string; authorization?: string; condition?: string; scanTypes?: string; body: string };

/** How a request is answered instead of properly; `{}` is 200 with an empty body. */
export type FakeAnswer = {
  status?: number;
  headers?: Record<string, string | string[]>;
  body?: string;
  /** Closes the connection without an answer. */
  destroy?: boolean;
  /** Sends headers and body, and then never ends. */
  stall?: boolean;
  /** Closes the connection when the body is only half there. */
  cut?: boolean;
  /** Answers when this is settled: to hold requests without sleeping. */
  after?: Promise<unknown>;
};

/** Undefined from a function: answered properly, and not counted. */
export type FakeAnswerFor = FakeAnswer | ((request: FakeRequest) => FakeAnswer | undefined);

/** Which requests, and how many of them; everything, and one, unless given. */
export type FakeMatch = { method?: string; path?: string | RegExp; times?: number };

export type FakeCredentials = { user: string; password: string };

/**
 * With `user`: the token server wants it (or `identityToken`; with `rotates` each exchange replaces that by another one). `realm` and `service` replace what the
 * challenge says. `scopeFor` says what a token has to be for; without, each is good for everything.
 */
export type BearerOptions = Partial<FakeCredentials> & {
  identityToken?: string;
  rotates?: boolean;
  realm?: string;
  service?: string;
  expiresIn?: number;
  scopeFor?: (kind: string, repository: string) => string;
};

/** A registry inside this process, over plain HTTP (or TLS), whose faults are ordered by the test. */
export type FakeRegistry = {
  /** Address and port, as in an image reference. */
  readonly host: string;
  /** Everything that was asked, in order, refused and faulty ones and tokens (`/token`) included. */
  readonly requests: FakeRequest[];
  /** How many connections were opened. */
  readonly connections: number;
  /** Lets a tag point at a digest, which need not be real. */
  setTag(repository: string, tag: string, digest: string): void;
  /** Lets a tag point at a manifest (of the media type that it says first); returns its digest. */
  setManifest(repository: string, tag: string, manifest: string): string;
  /** Holds a blob; returns its digest. */
  setBlob(repository: string, bytes: string): string;
  deleteTag(repository: string, tag: string): void;
  /** The next `times` reads of the tag see the old digest, as right after a push; undefined: they see 404. */
  staleFor(repository: string, tag: string, oldDigest: string | undefined, times: number): void;
  /** Tags on a page at most, whatever `n` asks for. */
  setPageSize(size: number): void;
  /** Gives tag lists an ETag from now on, and does not send again what has not changed. */
  nameLists(): void;
  /** Answers matching requests in another way; faults are used up in the order in which they were given. */
  answerNext(answer: FakeAnswerFor, match?: FakeMatch): void;
  requireBasic(credentials: FakeCredentials): void;
  requireBearer(options?: BearerOptions): void;
  /** Tokens given out until now are not accepted any more. */
  revokeTokens(): void;
  stop(): Promise<void>;
};

type Entry = { digest: string; manifest?: string };
type Fault = { answer: FakeAnswerFor; match: FakeMatch; left: number };
type Auth = { basic: FakeCredentials } | { bearer: BearerOptions };

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
/** Digest → manifest. */
const images = new Map<string, string>();

/** Starts a fake registry on a free loopback port. */
export async function startFakeRegistry({ tls }: { tls?: { key: string; cert: string } } = {}): Promise<FakeRegistry> {
  const requests: FakeRequest[] = [];
  const repositories = new Map<string, Map<string, Entry>>();
  const contents = new Map<string, string>();
  const stale = new Map<string, { digest: string | undefined; left: number }>();
  const faults: Fault[] = [];
  let tokens = new Map<string, string>();
  let issued = 0;
  let pageSize = 1000;
  let isNamingLists = false;
  let connections = 0;
  let auth: Auth | undefined;
  let origin = '';

  const handle: RequestListener = (incoming, response) => {
    void (async () => {
      const request = await readRequest(incoming);
      requests.push(request);
      send(response, request, await answer(request));
    })().catch(() => response.destroy());
  };

  async function answer(request: FakeRequest): Promise<FakeAnswer> {
    const fault = takeFault(faults, request);
    if (!fault) return properAnswer(request);
    await fault.after;
    return fault;
  }

  function properAnswer(request: FakeRequest): FakeAnswer {
    const url = new URL(request.path, origin);
    if (/^\/(?:service\/)?token$/.test(url.pathname) && auth && 'bearer' in auth) return giveToken(request, auth.bearer);
    const refusal = challenge(request, url);
    if (refusal) return refusal;
    if (url.pathname === '/v2/') return { body: '{}' };
    const [, repository = '', kind, reference = ''] = /^\/v2\/(.+)\/(manifests|tags|blobs)\/([^/]+)$/.exec(url.pathname) ?? [];
    if (kind === 'blobs') return blob(repository, reference);
    if (kind === 'manifests') return manifest(repository, reference);
    return kind === 'tags' ? named(tagList(repository, url), request) : ociError(404, 'UNSUPPORTED');
  }

  function giveToken({ authorization, body, path }: FakeRequest, options: BearerOptions): FakeAnswer {
    const { user, password, identityToken, rotates, expiresIn } = options;
    const isRefresh = identityToken !== undefined && new URLSearchParams(body).get('refresh_token') === identityToken;
    const isUser = user === undefined || authorization === basic({ user, password: password ?? '' });
    if (!isRefresh && !isUser) return ociError(401, 'UNAUTHORIZED');
    const token = `token-${++issued}`;
    tokens.set(token, new URLSearchParams(body).get('scope') ?? new URL(path, origin).searchParams.get('scope') ?? '');
    const rotated = isRefresh && rotates === true ? { refresh_token: `${identityToken}'` } : undefined;
    if (rotated) options.identityToken = rotated.refresh_token;
    return { body: JSON.stringify({ token, ...rotated, ...(expiresIn !== undefined && { expires_in: expiresIn }) }) };
  }

  function challenge({ authorization }: FakeRequest, url: URL): FakeAnswer | undefined {
    if (!auth) return undefined;
    if ('basic' in auth) {
      return authorization === basic(auth.basic)
        ? undefined
        : ociError(401, 'UNAUTHORIZED', { 'www-authenticate': 'Basic realm="fake, registry"' });
    }
    const { realm = `${origin}/token`, service = 'fake', scopeFor } = auth.bearer;
    const [, path, kind = ''] = /^\/v2\/(.+)\/(manifests|tags|blobs|referrers)\//.exec(url.pathname) ?? [];
    const wanted = path === undefined ? undefined : (scopeFor?.(kind, path) ?? `repository:${path}:pull`);
    const scope = authorization?.startsWith('Bearer ') ? tokens.get(authorization.slice(7)) : undefined;
    if (scope !== undefined && (scopeFor === undefined || scope === wanted)) return undefined;
    const scopeParameter = wanted === undefined ? '' : `,scope="${wanted}"`;
    return ociError(401, 'UNAUTHORIZED', { 'www-authenticate': `Bearer realm="${realm}",service="${service}"${scopeParameter}` });
  }

  function manifest(repository: string, reference: string): FakeAnswer {
    const entry = repositories.get(repository)?.get(reference);
    const old = stale.get(`${repository}:${reference}`);
    const held = contents.get(`${repository}@${reference}`);
    const digest = old && old.left-- > 0 ? old.digest : (entry?.digest ?? (held && reference));
    if (digest === undefined) return ociError(404, 'MANIFEST_UNKNOWN');
    const stored = old !== undefined && digest === old.digest ? undefined : entry?.manifest;
    const body = stored ?? held ?? images.get(digest) ?? JSON.stringify({ schemaVersion: 2, mediaType: manifestType });
    const type = /"mediaType":"([^"]+)"/.exec(body)?.[1] ?? manifestType;
    return { headers: { 'content-type': type, 'docker-content-digest': digest }, body };
  }

  function blob(repository: string, digest: string): FakeAnswer {
    const body = contents.get(`${repository}@${digest}`);
    return body === undefined ? ociError(404, 'BLOB_UNKNOWN') : { headers: { 'content-type': 'application/octet-stream' }, body };
  }

  function hold(repository: string, bytes: string): string {
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    contents.set(`${repository}@${digest}`, bytes);
    return digest;
  }

  function tagList(repository: string, url: URL): FakeAnswer {
    const all = [...(repositories.get(repository)?.keys() ?? [])].sort();
    if (all.length === 0) return ociError(404, 'NAME_UNKNOWN');
    const last = url.searchParams.get('last') ?? '';
    const rest = all.filter((tag) => tag > last);
    const size = Math.min(Number(url.searchParams.get('n') ?? pageSize), pageSize);
    const page = rest.slice(0, size);
    const nextPage = `/v2/${repository}/tags/list?n=${size}&last=${page.at(-1) ?? ''}`;
    return {
      body: JSON.stringify({ name: repository, tags: page }),
      ...(rest.length > size && { headers: { link: `<${nextPage}>; rel="next"` } }),
    };
  }

  function named(list: FakeAnswer, { condition }: FakeRequest): FakeAnswer {
    if (!isNamingLists || list.status !== undefined) return list;
    const etag = `"${createHash('sha256').update(JSON.stringify(list)).digest('hex')}"`;
    return condition === etag ? { status: 304, headers: { etag } } : { ...list, headers: { ...list.headers, etag } };
  }

  function setEntry(repository: string, tag: string, entry: Entry): void {
    const tags = repositories.get(repository) ?? new Map<string, Entry>();
    repositories.set(repository, tags.set(tag, entry));
  }

  const server: Server = tls ? createTlsServer(tls, handle) : createServer(handle);
  server.on(tls ? 'secureConnection' : 'connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  origin = `${tls ? 'https' : 'http'}://${host}`;

  return {
    host,
    requests,
    get connections() {
      return connections;
    },
    setTag: (repository, tag, digest) => setEntry(repository, tag, { digest }),
    setManifest(repository, tag, manifest) {
      const digest = hold(repository, manifest);
      setEntry(repository, tag, { digest, manifest });
      return digest;
    },
    setBlob: hold,
    deleteTag: (repository, tag) => void repositories.get(repository)?.delete(tag),
    staleFor: (repository, tag, digest, times) => void stale.set(`${repository}:${tag}`, { digest, left: times }),
    nameLists: () => void (isNamingLists = true),
    setPageSize: (size) => void (pageSize = size),
    answerNext: (answer, match = {}) => void faults.push({ answer, match, left: match.times ?? 1 }),
    requireBasic: (credentials) => void (auth = { basic: credentials }),
    requireBearer: (options = {}) => void (auth = { bearer: options }),
    revokeTokens: () => void (tokens = new Map()),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** `sha256:` with the same digit all over: a digest that tests can tell apart. */
export function fakeDigest(digit: string): string {
  return `sha256:${digit.repeat(64)}`;
}

/** The digest of an image that every fake registry knows: one for each name. */
export function fakeImage(name: string): string {
  const config = { mediaType: 'application/vnd.oci.image.config.v1+json', digest: fakeDigest('0'), size: 2 };
  const manifest = JSON.stringify({ mediaType: manifestType, schemaVersion: 2, config, layers: [], annotations: { name } });
  const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
  images.set(digest, manifest);
  return digest;
}

async function readRequest(incoming: IncomingMessage): Promise<FakeRequest> {
  let body = '';
  for await (const chunk of incoming) body += String(chunk);
  const { authorization, 'if-none-match': name, 'if-modified-since': time, 'x-accept-vulnerabilities': scanTypes } = incoming.headers;
  const condition = name ?? time;
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    ...(authorization !== undefined && { authorization }),
    ...(condition !== undefined && { condition }),
    ...(scanTypes !== undefined && { scanTypes: String(scanTypes) }),
    body,
  };
}

function takeFault(faults: Fault[], request: FakeRequest): FakeAnswer | undefined {
  for (const fault of faults) {
    if (fault.left === 0 || !matches(fault.match, request)) continue;
    const answer = typeof fault.answer === 'function' ? fault.answer(request) : fault.answer;
    if (!answer) continue;
    fault.left--;
    return answer;
  }
  return undefined;
}

function matches({ method, path }: FakeMatch, request: FakeRequest): boolean {
  if (method !== undefined && method !== request.method) return false;
  return path === undefined || (typeof path === 'string' ? request.path.startsWith(path) : path.test(request.path));
}

function send(
  response: ServerResponse,
  { method }: FakeRequest,
  { status = 200, headers = {}, body = '', destroy, stall, cut }: FakeAnswer,
): void {
  if (destroy) return void response.destroy();
  const length = stall ? {} : { 'content-length': String(Buffer.byteLength(body) * (cut ? 2 : 1)) };
  response.writeHead(status, { 'content-type': 'application/json', ...length, ...headers });
  if (cut) return void response.write(body, () => response.destroy());
  if (method !== 'HEAD') response.write(body);
  if (stall) response.flushHeaders();
  else response.end();
}

function ociError(status: number, code: string, headers: Record<string, string> = {}): FakeAnswer {
  return { status, headers, body: JSON.stringify({ errors: [{ code, message: 'said by the fake registry' }] }) };
}

function basic({ user, password }: FakeCredentials): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
