/**
 * Image names as value objects: parsed once at the edge, compared by value everywhere else.
 * Grammar and defaults follow distribution/reference; Docker Hub's many host names are one registry.
 */
import type { Companion, MissingCompanions } from './companions.ts';
import { defined } from './defined.ts';
import { PermanentError } from './errors.ts';

/** A repository in normal form: `{registry: 'docker.io', path: 'library/nginx'}`. */
export interface Repository {
  readonly registry: string;
  readonly path: string;
}

/** A parsed image name. `name` is the text before tag and digest exactly as written, so that a rewrite can keep it. */
export interface ImageReference {
  readonly repository: Repository;
  readonly name: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** Other names of registries → the canonical name: `registry.internal:5000` → `registry.local:5000`. */
export type RegistryAliases = Pick<ReadonlyMap<string, string>, 'get'>;

const dockerHub = 'docker.io';
const dockerHubNames = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io', 'registry.hub.docker.com', 'hub.docker.com', '']);
const hostPattern = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/;
const pathPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const digestPattern = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;
const maxPort = 65_535;
const maxNameLength = 255;
/** The maximum length of a text that is read. Workloads may contain any text, of a megabyte as well, and trimming slashes takes quadratic time. */
const maxTextLength = 1024;

/** Whether the text is a tag by the OCI grammar (at most 128 characters). */
export function isTag(text: string): boolean {
  return tagPattern.test(text);
}

/** Whether the text is a sha256 or sha512 digest. */
export function isDigest(text: string): boolean {
  return digestPattern.test(text);
}

/** The normal form of a registry host: lower case, no scheme, no `:443`, one name for Docker Hub, aliases resolved. */
export function normaliseRegistry(host: string, aliases?: RegistryAliases): string {
  const bare = host
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/+$/, '')
    .replace(/:443$/, '');
  const canonical = dockerHubNames.has(bare) ? dockerHub : bare;
  return aliases?.get(canonical) ?? canonical;
}

/** Whether a host is Docker Hub, where names have a namespace (`library/nginx`). Such names are completed before aliases are resolved. */
export function isDockerHub(host: string, aliases?: RegistryAliases): boolean {
  return normaliseRegistry(host) === dockerHub || normaliseRegistry(host, aliases) === dockerHub;
}

/**
 * The normal form of a repository: registry as in `normaliseRegistry`, path in lower case, `library/` for single names on Docker Hub. Throws
 * PermanentError(InvalidPolicy) with the problem.
 */
export function normaliseRepository(registry: string, path: string, aliases?: RegistryAliases): Repository {
  if (registry.length + path.length > maxTextLength) throw tooLong(path);
  const host = normaliseRegistry(registry, aliases);
  const lower = path.toLowerCase().replace(/^\/+/, '').replace(/\/+$/, '');
  if (!isHost(host)) throw new PermanentError('InvalidPolicy', `"${shorten(registry)}" is not a registry host`);
  if (!pathPattern.test(lower)) {
    throw new PermanentError(
      'InvalidPolicy',
      `"${shorten(path)}" is not a repository path: lower-case letters, digits and . _ - between slashes`,
    );
  }
  const full = isDockerHub(registry, aliases) && !lower.includes('/') ? `library/${lower}` : lower;
  if (host.length + 1 + full.length > maxNameLength) throw tooLong(path);
  return { registry: host, path: full };
}

/** The normal form of a repository; undefined if the names are invalid. Senders may write any text. */
export function tryNormaliseRepository(registry: string, path: string, aliases?: RegistryAliases): Repository | undefined {
  try {
    return normaliseRepository(registry, path, aliases);
  } catch {
    return undefined;
  }
}

/** The names that were parsed lately, by aliases: each decision about an image parses the same few names several times. */
const parsed = new WeakMap<RegistryAliases, Map<string, ImageReference>>();
const maxParsed = 2_000;
export const noAliases: RegistryAliases = new Map<string, string>();

/** Parses `[host[:port]/]path[:tag][@digest]`. Throws PermanentError(InvalidPolicy) with the problem. */
export function parseImageReference(text: string, aliases = noAliases): ImageReference {
  const known = parsed.get(aliases) ?? new Map<string, ImageReference>();
  const found = known.get(text);
  if (found !== undefined) return found;
  const reference = parse(text, aliases);
  if (known.size >= maxParsed) known.clear();
  known.set(text, reference);
  parsed.set(aliases, known);
  return reference;
}

function parse(text: string, aliases: RegistryAliases): ImageReference {
  if (text.length > maxTextLength) throw tooLong(text);
  const [beforeDigest = '', digest, ...tooMany] = text.trim().split('@');
  refuseStrangers(text, beforeDigest, digest);
  if (tooMany.length > 0 || (digest !== undefined && !isDigest(digest))) {
    throw new PermanentError('InvalidPolicy', `"${shorten(text)}" has a digest that is not sha256:<64 hex digits>`);
  }
  const colon = beforeDigest.lastIndexOf(':');
  const hasTag = colon > beforeDigest.lastIndexOf('/');
  const name = hasTag ? beforeDigest.slice(0, colon) : beforeDigest;
  const tag = hasTag ? beforeDigest.slice(colon + 1) : undefined;
  if (tag !== undefined && !isTag(tag)) {
    throw new PermanentError(
      'InvalidPolicy',
      `"${shorten(text)}" has a tag that is not valid: letters, digits and . _ -, at most 128, none of . - first`,
    );
  }
  const [host, path] = splitName(name);
  const repository = normaliseRepository(host, path, aliases);
  return { repository, name, ...defined({ tag, digest }) };
}

/** Parses an image name; undefined if it is invalid. Workloads may contain any text. */
export function tryParseImageReference(text: string, aliases?: RegistryAliases): ImageReference | undefined {
  try {
    return parseImageReference(text, aliases);
  } catch {
    return undefined;
  }
}

/** The only text form of a repository: `docker.io/library/nginx`. It is used as key, in logs and in messages. */
export function formatRepository(repository: Repository): string {
  return `${repository.registry}/${repository.path}`;
}

/** Whether two repositories are the same; both must be in normal form. */
export function sameRepository(a: Repository, b: Repository): boolean {
  return a.registry === b.registry && a.path === b.path;
}

/** Refuses inputs that are often mistaken for image names. A password in one must not appear in a message. */
function refuseStrangers(text: string, beforeDigest: string, digest: string | undefined): void {
  if (text.trim() === '') throw new PermanentError('InvalidPolicy', 'the image name is empty');
  if (/^[a-z][a-z0-9+.-]{0,20}:\/\//i.test(text.trim())) {
    throw new PermanentError('InvalidPolicy', 'an image name has no scheme: leave out what is before the host, with ://');
  }
  if (digest?.includes('/') && !beforeDigest.includes('/')) {
    throw new PermanentError('InvalidPolicy', 'an image name holds no user or password: leave out what is before the host, with @');
  }
}

function tooLong(name: string): PermanentError {
  return new PermanentError('InvalidPolicy', `the image name "${shorten(name)}" is longer than ${maxNameLength} characters`);
}

function isHost(text: string): boolean {
  return hostPattern.test(text) && Number(/:(\d+)$/.exec(text)?.[1] ?? 1) <= maxPort;
}

/** Splits a name into its host and the rest. The first segment is a host if it has a dot or a port, or is `localhost` (distribution/reference). */
export function splitName(name: string): [host: string, path: string] {
  const slash = name.indexOf('/');
  const first = slash === -1 ? '' : name.slice(0, slash);
  const isHost = first.includes('.') || first.includes(':') || first.toLowerCase() === 'localhost';
  return isHost ? [first, name.slice(slash + 1)] : [dockerHub, name];
}

function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}

/** The image that should run. The digest is absent until it was requested from the registry. */
export interface Candidate {
  readonly tag: string;
  readonly digest?: string;
  /** Present if the tag does not point to the digest in this repository, where it names another image or none. */
  readonly isMoved?: true;
  /** When the image was created, if the strategy uses that. */
  readonly createdAt?: string;
  /** The images that are changed with it; absent for a policy without companions, and while they are not known. */
  readonly companions?: readonly Companion[];
  /** The digest of the set of all these images (`companions.ts`). */
  readonly setDigest?: string;
  /** The companions that the registry does not hold; then it has neither `companions` nor `setDigest`. */
  readonly missing?: MissingCompanions;
}
