/** Reads where an image was built from, and makes links to it. Pure. */

/** The origin of an image from its annotations or labels, which its builder writes: https://github.com/opencontainers/image-spec/blob/main/annotations.md */
export interface ImageOrigin {
  /** The web address of the repository, without a trailing slash: `https://github.com/shop/web`. */
  readonly repository: string;
  /** The path that the image names, if it has more parts than that of `repository`: on a GitLab without its name in the host, groups may be nested. */
  readonly fullPath?: string;
  /** The commit from which the image was built. */
  readonly revision?: string;
  /** The version of the software, which is not always the tag of the image. */
  readonly version?: string;
}

/** The origins of a new image and of the one that it replaces. */
export interface Origins {
  readonly now?: ImageOrigin;
  readonly before?: ImageOrigin;
}

/** A link whose address contains nothing that a chat or a mail program could read as markup. */
export interface Link {
  readonly text: string;
  readonly url: string;
}

type Texts = Readonly<Record<string, string>>;

const segment = /^[A-Za-z0-9_~][A-Za-z0-9._~-]{0,127}$/;
const hostPattern = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::\d{1,5})?$/;
const maxSegments = 12;

/** The origin in the first of several sets of annotations or labels that names a repository. A revision counts only beside a repository. */
export function readOrigin(sets: readonly Texts[]): ImageOrigin | undefined {
  for (const texts of sets) {
    const source = parseRepository(texts['org.opencontainers.image.source'] ?? '');
    if (source === undefined) continue;
    const revision = readRevision(texts);
    const version = texts['org.opencontainers.image.version']?.trim() ?? '';
    return {
      ...source,
      ...(revision !== undefined && { revision }),
      ...(/^[\w][\w.+-]{0,127}$/.test(version) && { version }),
    };
  }
  return undefined;
}

/** The commit that annotations or labels name; undefined if they name none. */
export function readRevision(texts: Texts): string | undefined {
  const revision = texts['org.opencontainers.image.revision']?.trim().toLowerCase() ?? '';
  return /^[0-9a-f]{7,64}$/.test(revision) ? revision : undefined;
}

/** The web address of a repository: `https://github.com/shop/web.git`, `git+https://…`, `git@github.com:shop/web.git`, `ssh://git@…`. */
function parseRepository(source: string): Pick<ImageOrigin, 'repository' | 'fullPath'> | undefined {
  if (source.length > 1_024) return undefined;
  const scp = /^[\w.-]+@([\w.-]+):(?!\/)(\S+)$/.exec(source.trim());
  const url = scp === null ? URL.parse(source.trim().replace(/^git\+/, '')) : URL.parse(`https://${scp[1]}/${scp[2]}`);
  if (url === null || !['https:', 'http:', 'ssh:', 'git:'].includes(url.protocol)) return undefined;
  const host = (url.protocol === 'https:' || url.protocol === 'http:' ? url.host : url.hostname).toLowerCase();
  const [path = ''] = url.pathname.split('/-/');
  const segments = path
    .replaceAll(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '')
    .split('/');
  const isRepository = segments.length >= 2 && segments.length <= maxSegments && segments.every((part) => segment.test(part));
  if (!isRepository || !hostPattern.test(host)) return undefined;
  const fullPath = segments.join('/');
  const ownPath = kindOf(host) === 'gitlab' ? fullPath : segments.slice(0, 2).join('/');
  return { repository: `https://${host}/${ownPath}`, ...(fullPath !== ownPath && { fullPath }) };
}

/** The kind of a Git host, which determines its paths. Gitea and Forgejo have those of GitHub. */
type HostKind = 'github' | 'gitlab' | 'bitbucket';

function kindOf(host: string): HostKind {
  if (host === 'bitbucket.org') return 'bitbucket';
  return host.includes('gitlab') ? 'gitlab' : 'github';
}

const paths: Readonly<
  Record<HostKind, { commit: (revision: string) => string; compare: (from: string, to: string) => string; releases: string }>
> = {
  github: { commit: (revision) => `commit/${revision}`, compare: (from, to) => `compare/${from}...${to}`, releases: 'releases' },
  gitlab: { commit: (revision) => `-/commit/${revision}`, compare: (from, to) => `-/compare/${from}...${to}`, releases: '-/releases' },
  bitbucket: {
    commit: (revision) => `commits/${revision}`,
    compare: (from, to) => `branches/compare/${to}%0D${from}`,
    releases: 'downloads/?tab=tags',
  },
};

/** A link to what changed between two images, as its parts, so that each page can name it in its language. The revisions are shortened. */
export interface OriginLink {
  readonly kind: (typeof originLinkKinds)[number];
  readonly url: string;
  /** The host is shown to readers, because the builder of the image chose it. */
  readonly host: string;
  readonly from?: string;
  readonly to?: string;
}
/** changes: all commits between two images. commit: that of the new one. source: its repository, if it names no commit. */
export const originLinkKinds = ['changes', 'commit', 'source', 'releases'] as const;

/** Links to the changes between two images, or to the commit of the new one, and to the releases. Empty if the image does not name its source. */
export function originLinksOf({ now, before }: Origins): OriginLink[] {
  if (now === undefined) return [];
  const { repository, revision, version } = now;
  const { host } = new URL(repository);
  const path = paths[kindOf(host)];
  const old = before?.repository === repository ? before.revision : undefined;
  const changes = (): OriginLink => {
    if (revision === undefined) return { kind: 'source', url: repository, host };
    const to = short(revision);
    if (old === undefined || old === revision) return { kind: 'commit', url: `${repository}/${path.commit(revision)}`, host, to };
    return { kind: 'changes', url: `${repository}/${path.compare(old, revision)}`, host, from: short(old), to };
  };
  return [changes(), ...(version === undefined ? [] : [{ kind: 'releases' as const, url: `${repository}/${path.releases}`, host }])];
}

/** The links of an origin, with English texts. */
export function linksOf(origins: Origins): Link[] {
  return originLinksOf(origins).map((link) => ({ text: textOf(link), url: link.url }));
}

function textOf({ kind, host, from = '', to = '' }: OriginLink): string {
  if (kind === 'changes') return `Changes ${from}…${to} on ${host}`;
  if (kind === 'commit') return `Commit ${to} on ${host}`;
  return `${kind === 'source' ? 'Source' : 'Releases'} on ${host}`;
}

function short(revision: string): string {
  return revision.slice(0, 7);
}
