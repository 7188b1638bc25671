/**
 * Docker's config.json, as Kubernetes stores it in pull secrets. Entries are matched like in the kubelet, with two safer differences: a path matches whole
 * segments only (`host/team` does not match `host/team-b`), and an invalid entry does not affect the others.
 */
import { parseBoundedJson } from '../../../core/model/bounded-json.ts';
import { normaliseRegistry, type Repository } from '../../../core/model/image-reference.ts';
import { isObject, textOrEmpty } from '../../../core/model/untyped.ts';

/** One registry (host, or host and path) of a config.json. */
export interface DockerConfigEntry {
  /** The host in normal form; each of its labels may be a glob. */
  readonly host: string;
  /** The path of the entry: `team` or `team/app`; '' for the whole registry. */
  readonly path: string;
  readonly username: string;
  readonly password: string;
  readonly identityToken?: string;
  readonly registryToken?: string;
}

/** The valid entries of a config.json, and the problems of the invalid ones, worded for users. */
export interface DockerConfig {
  readonly entries: readonly DockerConfigEntry[];
  readonly problems: readonly string[];
}

/** The limits for hosts, which are compared for each request. Whoever may write a Secret could fill it with one endless glob, or with thousands. */
const maxHost = 260;
const maxGlobs = 100;
const globSigns = /[*?[\\]/;

// The user name that marks the password as an identity token (ACR and others).
const tokenUser = '<token>';

/** Parses `.dockerconfigjson`, or the legacy `.dockercfg`, which has no outer `auths`. Throws an Error for any other document. */
export function parseDockerConfig(text: string): DockerConfig {
  const document = parseObject(text);
  const auths = 'auths' in document ? document.auths : looksLegacy(document) ? document : {};
  if (!isObject(auths)) throw new Error('"auths" is not an object');
  const entries: DockerConfigEntry[] = [];
  const problems: string[] = [];
  let globs = 0;
  for (const [key, value] of Object.entries(auths)) {
    const entry = parseEntry(key, value);
    if (typeof entry === 'string') problems.push(`the entry "${key.slice(0, 100)}" ${entry}`);
    else if (!globSigns.test(entry.host) || ++globs <= maxGlobs) entries.push(entry);
  }
  if (globs > maxGlobs) problems.push(`of ${globs} entries with wildcards, the first ${maxGlobs} are used`);
  if ('credsStore' in document || 'credHelpers' in document) problems.push('credsStore and credHelpers are not run');
  return { entries, problems };
}

/**
 * The entries for a repository, in the kubelet's order, which is the descending order of host and path: longer paths come before shorter ones, and literal hosts
 * before a `*`.
 */
export function findCredentials(config: DockerConfig, repository: Repository): DockerConfigEntry[] {
  const keyOf = ({ host, path }: DockerConfigEntry) => (path === '' ? host : `${host}/${path}`);
  return config.entries
    .filter((entry) => matchesHost(entry.host, repository.registry) && matchesPath(entry.path, repository.path))
    .map((entry) => ({ entry, key: keyOf(entry) }))
    .sort((a, b) => (a.key === b.key ? 0 : a.key < b.key ? 1 : -1))
    .map(({ entry }) => entry);
}

function parseEntry(key: string, value: unknown): DockerConfigEntry | string {
  const scope = parseKey(key);
  if (!scope) return 'names no registry';
  if (!isObject(value)) return 'is not an object';
  const fromAuth = typeof value.auth === 'string' && value.auth !== '' ? decodeAuth(value.auth) : undefined;
  const username = fromAuth?.username ?? textOrEmpty(value.username);
  const password = fromAuth?.password ?? textOrEmpty(value.password);
  const registryToken = textOrEmpty(value.registrytoken);
  if (registryToken !== '') {
    return /^[\x21-\x7e]+$/.test(registryToken) ? { ...scope, username, password, registryToken } : 'has a registrytoken that is no token';
  }
  const identityToken = textOrEmpty(value.identitytoken) || (username === tokenUser ? password : '');
  if (identityToken !== '') return { ...scope, username, password, identityToken };
  if (typeof value.auth === 'string' && value.auth !== '' && !fromAuth) return 'has an auth that is not the base64 form of user:password';
  if (username === '' && password === '') return 'has neither auth nor username and password';
  return { ...scope, username, password };
}

/** Splits `https://host:port/v1/team/` into host and path; a leading `v1/` or `v2/` is not part of the path. */
function parseKey(key: string): { host: string; path: string } | undefined {
  const [host = '', ...segments] = key
    .trim()
    .replace(/^https?:\/\//i, '')
    .split('/')
    .filter((segment, index) => index === 0 || segment !== '');
  if (host === '' || host.length > maxHost) return undefined;
  if (/^v[12]$/.test(segments[0] ?? '')) segments.shift();
  return { host: normaliseRegistry(host), path: segments.join('/') };
}

function decodeAuth(auth: string): { username: string; password: string } | undefined {
  // Trailing NULs are removed, because old versions of docker padded with them.
  const decoded = Buffer.from(auth, 'base64').toString('utf8').replace(/\0+$/, '');
  const colon = decoded.indexOf(':');
  return colon === -1 ? undefined : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

function matchesHost(pattern: string, host: string): boolean {
  if (pattern === host) return true;
  if (!globSigns.test(pattern)) return false;
  const [patternName, patternPort] = splitPort(pattern);
  const [name, port] = splitPort(host);
  const patternLabels = patternName.split('.');
  const labels = name.split('.');
  return (
    patternPort === port &&
    patternLabels.length === labels.length &&
    patternLabels.every((label, index) => matchesGlob(label, labels[index] ?? ''))
  );
}

function splitPort(host: string): [name: string, port: string | undefined] {
  const [, name = host, port] = /^(.*):(\d+)$/.exec(host) ?? [];
  return [name, port];
}

function matchesPath(prefix: string, path: string): boolean {
  return prefix === '' || path === prefix || path.startsWith(`${prefix}/`);
}

function looksLegacy(document: Record<string, unknown>): boolean {
  return Object.values(document).some(
    (value) => isObject(value) && ['auth', 'username', 'password', 'identitytoken', 'registrytoken'].some((key) => key in value),
  );
}

function parseObject(json: string): Record<string, unknown> {
  let document: unknown;
  try {
    document = parseBoundedJson(json);
  } catch (error) {
    // The parser's message is not kept, because it quotes the text, which contains passwords.
    throw error instanceof SyntaxError ? new Error('not valid JSON') : error;
  }
  if (!isObject(document)) throw new Error('not a JSON object');
  return document;
}

/** Whether a character matches one element of a glob: a literal, `?`, or a set such as `[0-9]`. */
type OneCharacter = (character: string) => boolean;

/**
 * Whether a text matches a glob of the kubelet (Go's path/filepath.Match): `*`, `?`, `[a-z]`, `[^a-z]`, and `\` to escape a character. An invalid glob matches
 * nothing. Takes at most pattern length × text length steps.
 */
function matchesGlob(pattern: string, text: string): boolean {
  const parts = parseGlob(pattern);
  if (parts === undefined) return false;
  let [part, at] = [0, 0];
  // The position of the last `*`, and the end of the text it matches. After a mismatch, only this `*` has to match one character more.
  let last: { part: number; at: number } | undefined;
  while (at < text.length) {
    const expected = parts[part];
    if (expected === '*') {
      last = { part: part++, at };
    } else if (expected?.(text[at] ?? '')) {
      part++;
      at++;
    } else if (last === undefined) {
      return false;
    } else {
      last = { part: last.part, at: last.at + 1 };
      [part, at] = [last.part + 1, last.at];
    }
  }
  return parts.slice(part).every((left) => left === '*');
}

function parseGlob(pattern: string): ('*' | OneCharacter)[] | undefined {
  const parts: ('*' | OneCharacter)[] = [];
  const element = /\*|\?|\[(\^?)((?:\\.|[^\\\]])+)\]|\\(.)|([^*?[\\])/suy;
  while (element.lastIndex < pattern.length) {
    const match = element.exec(pattern);
    if (match === null) return undefined;
    const [whole, not, set, escaped, character] = match;
    if (whole === '*') parts.push('*');
    else if (whole === '?') parts.push(() => true);
    else if (set === undefined) parts.push((other) => other === (escaped ?? character));
    else {
      const isIn = parseSet(set);
      parts.push((other) => isIn(other) !== (not === '^'));
    }
  }
  return parts;
}

function parseSet(text: string): OneCharacter {
  const ranges = [...text.matchAll(/\\?(.)(?:-\\?(.))?/gsu)].map(([, from = '', to = from]) => [from, to] as const);
  return (character) => ranges.some(([from, to]) => from <= character && character <= to);
}
