/** What a seed begins with: replicas, workloads and policies. */
import type { Artifact } from '../../src/core/model/artifact.ts';
import type { BaseSetup } from './base-setup.ts';
import type { ChartKind } from './chart-kinds.ts';
import { imageOf } from './image-content.ts';
import { api, web } from './images.ts';
import type { Random } from './random.ts';
import type { ScanRules } from './scanned-setup.ts';

export interface WorkloadSetup {
  readonly kind: 'Deployment' | 'StatefulSet' | 'DaemonSet' | ChartKind;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** Container → image; for a resource that installs charts, its field → chart. */
  readonly images: Readonly<Record<string, string>>;
  /** Where the HelmRepository of a HelmRelease is, if the HelmRelease says so. */
  readonly sourceNamespace?: string;
}

export interface PolicySetup {
  readonly name: string;
  readonly repository: string;
  readonly container: string;
  /** What it selects; images unless given. */
  readonly artifact?: Artifact;
  readonly spec: Readonly<Record<string, unknown>>;
  /** The mutable tag that it follows; absent where it selects by version. */
  readonly follows?: string;
  /** The versions that it selects. */
  readonly range?: string;
  /** Whether checks have a veto on its images. */
  readonly hasChecks?: boolean;
  /** What it demands of the vulnerabilities of its images. */
  readonly scans?: ScanRules;
  /** The policy that it follows, and how long that must have run an image. */
  readonly after?: { readonly policy: string; readonly forMs: number };
  /** The companion that is changed with its image, and the container of that. */
  readonly alongside?: { readonly repository: string; readonly container: string };
}

export interface Setup {
  readonly replicas: readonly string[];
  readonly workloads: readonly WorkloadSetup[];
  readonly policies: readonly PolicySetup[];
  /** Whether requests fare badly now and then, at any time. */
  readonly hasNoise: boolean;
  /** In some seeds, a BaseImagePolicy. */
  readonly base?: BaseSetup | undefined;
  /** The namespaces that have a HelmRepository. */
  readonly sources?: readonly string[];
}

export const policyNamespace = 'shop';
export const otherNamespace = 'team';

const allVersions = '>=0.1.0';
const oldVersions = '>=0.1.0 <1.0.6';

export const resources = { Deployment: 'deployments', StatefulSet: 'statefulsets', DaemonSet: 'daemonsets' } as const;
export const kinds = ['Deployment', 'Deployment', 'Deployment', 'StatefulSet', 'DaemonSet'] as const;

/** Draws it. */
export function drawSetup(random: Random): Setup {
  const hasSide = random.chance(0.25);
  const follows = random.chance(0.3) ? 'latest' : undefined;
  const pin = follows === undefined && random.chance(0.5) ? 'Tag' : 'Digest';
  const first = `${follows ?? '1.0.0'}${pin === 'Digest' ? `@${imageOf(0).digest}` : ''}`;
  const workloads = Array.from({ length: random.pick([1, 1, 2, 3, 4]) }, (_, index): WorkloadSetup => {
    const kind = random.pick(kinds);
    return {
      kind,
      resource: `apps/v1/${resources[kind]}`,
      namespace: index > 0 && random.chance(0.3) ? otherNamespace : policyNamespace,
      name: `w${index}`,
      images: { web: `${web}:${first}`, ...(hasSide && { api: `${api}:1.0.0` }) },
    };
  });
  const isSelecting = random.chance(0.3);
  const mode = random.chance(0.2) ? 'Approval' : 'Automatic';
  const rollout = random.pick([{ watch: true, onFailure: 'Rollback' }, { watch: true, onFailure: 'Hold' }, { watch: false }, undefined]);
  const waves = random.chance(0.4) && { waves: { maxParallel: random.pick([1, 2]), pause: random.pick(['1s', '5s']) } };
  const interval = random.pick(['1h', '1h', '30s']);
  const targetsOf = (container: string) =>
    isSelecting
      ? [...new Set(workloads.map(({ kind, namespace }) => `${kind} ${namespace}`))].map((key) => {
          const [kind, namespace] = key.split(' ');
          return { kind, namespace, selector: { matchLabels: { uses: 'web' } }, containers: [container] };
        })
      : workloads.map(({ kind, namespace, name }) => ({ kind, namespace, name, containers: [container] }));
  const common = { poll: { interval }, ...(rollout !== undefined && { rollout: { ...rollout, ...(rollout.watch && waves) } }) };
  const select = follows === undefined ? { semver: { range: allVersions } } : { digest: { tag: follows } };
  const main: PolicySetup = {
    name: 'web',
    repository: web,
    container: 'web',
    ...(follows !== undefined && { follows }),
    spec: { image: web, select, targets: targetsOf('web'), update: { mode, pin }, ...common },
  };
  const side: PolicySetup = {
    name: 'api',
    repository: api,
    container: 'api',
    spec: {
      image: api,
      select: { semver: { range: allVersions } },
      targets: targetsOf('api'),
      update: { mode: 'Automatic', pin: 'Tag' },
      ...common,
    },
  };
  // Another policy for the same containers, which selects fewer versions.
  const rival: PolicySetup = {
    ...main,
    name: 'old',
    range: oldVersions,
    spec: { ...main.spec, select: { semver: { range: oldVersions } }, update: { mode: 'Automatic', pin } },
  };
  const hasRival = follows === undefined && random.fork('rival').chance(0.15);
  const policies = [main, ...(hasSide ? [side] : []), ...(hasRival ? [rival] : [])];
  const replicas = ['A', 'B', 'C'].slice(0, random.pick([1, 2, 2, 2, 3]));
  return { replicas, workloads, policies, hasNoise: random.chance(0.5) };
}
