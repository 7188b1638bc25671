/** What seeds with a BaseImagePolicy have in addition: a base, an application that is built on it, and workloads that run the application. */
import { defined } from '../../src/core/model/defined.ts';
import { registryHost } from './images.ts';
import type { Random } from './random.ts';
import { otherNamespace, policyNamespace, type WorkloadSetup } from './setup.ts';

export const base = `${registryHost}/base/java`;
export const app = `${registryHost}/shop/app`;
/** Another application, whose tag is rebuilt where others are rebased. */
export const moving = `${registryHost}/shop/moving`;
export const basePolicyName = 'java';
export const appContainer = 'app';
/** The labels that the policy selects by: of workloads, and of their Namespaces. */
export const appLabel = { runs: 'app' } as const;
/** The label of canaries. */
export const canaryLabel = { track: 'canary' } as const;
export const namespaceLabel = { tier: 'apps' } as const;
export const pushSecret = 'push';

export interface BaseSetup {
  /** What happens to images that are behind: their tag is rebuilt and their workloads are restarted, or they are rebased, or either. */
  readonly action: 'restart' | 'rebase' | 'mixed';
  /** The tag that is rebuilt, and whose workloads are restarted; absent where all are rebased. */
  readonly rebuilt?: { readonly repository: string; readonly tag: string };
  /** The mutable tag of the base that is followed; absent where it is selected by version. */
  readonly follows?: string;
  /** The images that workloads run at first. */
  readonly images: readonly { readonly repository: string; readonly tag: string }[];
  readonly workloads: readonly WorkloadSetup[];
  /** The name of the workload that is changed before all others; absent where none is. */
  readonly canary?: string;
  readonly maxParallel: number;
  readonly isPolledOften: boolean;
  readonly spec: Readonly<Record<string, unknown>>;
}

const share = 0.2;

/** Draws it: in some of all seeds. */
export function drawBase(random: Random): BaseSetup | undefined {
  if (!random.chance(share)) return undefined;
  const only = random.pick(['restart', 'rebase'] as const);
  const follows = random.chance(0.5) ? '17' : undefined;
  const tag = only === 'restart' ? 'stable' : '1.0.0';
  const alike = Array.from({ length: random.pick([1, 2, 3, 4]) }, (_, index): WorkloadSetup => {
    const [kind, resource] = random.pick([
      ['Deployment', 'apps/v1/deployments'],
      ['Deployment', 'apps/v1/deployments'],
      ['StatefulSet', 'apps/v1/statefulsets'],
      ['DaemonSet', 'apps/v1/daemonsets'],
    ] as const);
    const namespace = index > 0 && random.chance(0.35) ? otherNamespace : policyNamespace;
    return { kind, resource, namespace, name: `b${index}`, images: { [appContainer]: `${app}:${tag}` } };
  });
  const canary = random.chance(0.4) ? alike[0]?.name : undefined;
  const maxParallel = random.pick([1, 2, 10]);
  const isPolledOften = random.chance(0.5);
  const pause = random.pick(['1s', '5s']);
  // The first one is restarted, and at least the last one is rebased.
  const isMixed = only === 'rebase' && alike.length > 1 && random.chance(0.5);
  const isRestarted = (index: number) => index === 0 || (index < alike.length - 1 && random.chance(0.3));
  const stable = { repository: isMixed ? moving : app, tag: 'stable' };
  const workloads = isMixed
    ? alike.map((one, index) => (isRestarted(index) ? { ...one, images: { [appContainer]: `${moving}:${stable.tag}` } } : one))
    : alike;
  const action = isMixed ? 'mixed' : only;
  const restart = { restart: { images: [stable.repository] } };
  const rebase = { rebase: { images: [app], pushSecret: { name: pushSecret } } };
  const spec = {
    image: base,
    select: follows === undefined ? { semver: { range: '>=1.0.0' } } : { digest: { tag: follows } },
    workloads: [
      {
        namespaceSelector: { matchLabels: namespaceLabel },
        selector: { matchLabels: appLabel },
        kinds: ['Deployment', 'StatefulSet', 'DaemonSet'],
      },
    ],
    onNewBase: isMixed ? [restart, rebase] : [only === 'restart' ? restart : rebase],
    waves: { maxParallel, pause, ...(canary !== undefined && { canaries: { matchLabels: canaryLabel } }) },
    poll: { interval: isPolledOften ? '1m' : '1h' },
  };
  const rebuilt = action === 'rebase' ? undefined : stable;
  const images = isMixed ? [{ repository: app, tag }, stable] : [{ repository: app, tag }];
  return { action, ...defined({ follows, canary, rebuilt }), images, workloads, maxParallel, isPolledOften, spec };
}

/** The labels that a workload has at first. */
export function labelsOf({ name }: Pick<WorkloadSetup, 'name'>, { canary }: BaseSetup): Readonly<Record<string, string>> {
  return name === canary ? { ...appLabel, ...canaryLabel } : appLabel;
}
