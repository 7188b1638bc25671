/** What the cluster says of a policy: the images of its targets, the records on the workloads, and what follows from its spec. Nothing here reads a status. */

/** An object of the API server, as far as it is looked at. */
export interface ClusterObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: object;
}

export interface Workload extends ClusterObject {
  readonly kind: string;
  readonly spec: {
    readonly paused?: boolean;
    readonly template: { readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] } };
  };
}

/** What installs charts or other artifacts: the kinds that the scene has. */
export type InstallerKind = 'application' | 'ocirepository' | 'helmrelease';

/** Any of these, as far as it says what it installs. */
export interface Installer extends ClusterObject {
  readonly spec: {
    readonly source?: { readonly repoURL: string; readonly chart?: string; readonly targetRevision: string };
    readonly url?: string;
    readonly ref?: { readonly tag?: string; readonly digest?: string };
    readonly chart?: { readonly spec: { readonly chart: string; readonly version: string; readonly sourceRef: { readonly name: string } } };
  };
}

/** Where the HelmReleases of its namespace find charts. */
export interface HelmRepository extends ClusterObject {
  readonly spec: { readonly url: string };
}

export interface Policy extends ClusterObject {
  readonly spec: {
    readonly image: string;
    readonly suspend?: boolean;
    readonly targets: readonly {
      readonly kind: string;
      readonly name?: string;
      readonly namespace?: string;
      readonly selector?: { readonly matchLabels: Readonly<Record<string, string>> };
    }[];
  };
}

/** What the test knows of a policy, because it has made it so. */
export interface Known {
  /** What it selects: the best tag of the registry. `unknown` where it cannot have looked since. */
  readonly wanted: string;
  /** Reasons of which one has to be shown; absent where several things happened. */
  readonly why?: readonly string[];
}

export interface Truth {
  /** How many containers run each tag. */
  readonly tags: ReadonlyMap<string, number>;
  /** Of the policy's repository, as the workloads have them. */
  readonly images: readonly string[];
  /** The images to which workloads record that this policy changed them last. */
  readonly recorded: readonly string[];
  readonly wanted: string;
  readonly why: readonly string[] | undefined;
  /** Whether the registry is down, or has been: attempts that fail are written down when they have failed for a while, and are repeated with pauses. */
  readonly outage?: 'now' | 'before';
}

const recordPrefix = 'last-update.operator.technomad.dev/';

/** The truth about a policy. */
export function truthOf(policy: Policy, workloads: readonly Workload[], known: Known): Truth {
  const targets = workloads.filter((workload) => policy.spec.targets.some((target) => isTarget(workload, target)));
  const images = targets
    .flatMap(({ spec }) => spec.template.spec.containers.map(({ image }) => image))
    .filter((image) => isOf(image, policy.spec.image));
  return {
    tags: countsOf(images.map(tagOf)),
    images,
    recorded: targets.flatMap((workload) => recordsOf(workload, policy.metadata.uid)),
    wanted: known.wanted,
    why: policy.spec.suspend === true ? ['Suspended'] : known.why,
  };
}

/** What installs an artifact, as if one container ran it: tags have no `+`, and a range is no version. */
export function asWorkload(kind: string, { metadata, spec }: Installer, repositories: readonly HelmRepository[]): Workload {
  const [repository = '', version = '', digest] = installed(spec, repositories);
  const image = `${repository.replace(/^oci:\/\//, '')}:${version.replace('+', '_')}${digest === undefined ? '' : `@${digest}`}`;
  const containers = /^\d+\.\d+\.\d+/.test(version) && repository !== '' ? [{ name: 'artifact', image }] : [];
  return { kind, metadata, spec: { template: { spec: { containers } } } };
}

function installed({ source, url, ref, chart }: Installer['spec'], repositories: readonly HelmRepository[]) {
  if (source !== undefined) return [[source.repoURL, ...(source.chart ? [source.chart] : [])].join('/'), source.targetRevision];
  if (url !== undefined) return [url, ref?.tag, ref?.digest];
  const from = repositories.find(({ metadata: { name } }) => name === chart?.spec.sourceRef.name);
  return [from && `${from.spec.url}/${chart?.spec.chart}`, chart?.spec.version];
}

function isTarget({ kind, metadata: { name, labels = {} } }: Workload, target: Policy['spec']['targets'][number]): boolean {
  // Nobody consents: what is in another namespace is not seen.
  if (target.kind !== kind || target.namespace !== undefined) return false;
  if (target.selector === undefined) return target.name === name;
  return Object.entries(target.selector.matchLabels).every(([key, value]) => labels[key] === value);
}

/** Tests name repositories in full. */
function isOf(image: string, repository: string): boolean {
  return image.startsWith(`${repository}:`) || image.startsWith(`${repository}@`);
}

/** The tag, or the start of a digest without one. */
function tagOf(image: string): string {
  const [named = '', digest = ''] = image.split('@');
  return /:([^:/]+)$/.exec(named)?.[1] ?? digest.slice(0, 'sha256:'.length + 12);
}

function countsOf(tags: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return counts;
}

function recordsOf({ metadata: { annotations = {} } }: Workload, uid: string): string[] {
  return Object.entries(annotations).flatMap(([name, text]) => {
    if (!name.startsWith(recordPrefix)) return [];
    const { policy, to } = JSON.parse(text) as { policy?: string; to?: string };
    return policy === uid && to !== undefined ? [to] : [];
  });
}
