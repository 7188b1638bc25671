/** What seeds with a BaseImagePolicy have in addition: a base, an application that is built on it, and workloads that run the application. */
import { defined } from '../../src/core/model/defined.ts';
import { registryHost } from './images.ts';
import type { Random } from './random.ts';
import { otherNamespace, policyNamespace, type WorkloadSetup } from './setup.ts';

export const base = `${registryHost}/base/java`;
export const app = `${registryHost}/shop/app`;
export const basePolicyName = 'java';
export const appContainer = 'app';
/** The labels that the policy selects by: of workloads, and of their Namespaces. */
export const appLabel = { runs: 'app' } as const;
/** The label of canaries. */
export const canaryLabel = { track: 'canary' } as const;
export const namespaceLabel = { tier: 'apps' } as const;
export const pushSecret = 'push';

export interface BaseSetup {
  /** What happens to images that are behind: their tag is rebuilt and their workloads are restarted, or they are rebased. */
  readonly action: 'restart' | 'rebase';
  /** The mutable tag of the base that is followed; absent where it is selected by version. */
  readonly follows?: string;
  /** The tag of the application that all workloads run at first. */
  readonly tag: string;
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
  const action = random.pick(['restart', 'rebase'] as const);
  const follows = random.chance(0.5) ? '17' : undefined;
  const tag = action === 'restart' ? 'stable' : '1.0.0';
  const workloads = Array.from({ length: random.pick([1, 2, 3, 4]) }, (_, index): WorkloadSetup => {
    const [kind, resource] = random.pick([
      ['Deployment', 'apps/v1/deployments'],
      ['Deployment', 'apps/v1/deployments'],
      ['StatefulSet', 'apps/v1/statefulsets'],
      ['DaemonSet', 'apps/v1/daemonsets'],
    ] as const);
    const namespace = index > 0 && random.chance(0.35) ? otherNamespace : policyNamespace;
    return { kind, resource, namespace, name: `b${index}`, images: { [appContainer]: `${app}:${tag}` } };
  });
  const canary = random.chance(0.4) ? workloads[0]?.name : undefined;
  const maxParallel = random.pick([1, 2, 10]);
  const isPolledOften = random.chance(0.5);
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
    onNewBase: [action === 'restart' ? { restart: { images: [app] } } : { rebase: { images: [app], pushSecret: { name: pushSecret } } }],
    waves: { maxParallel, pause: random.pick(['1s', '5s']), ...(canary !== undefined && { canaries: { matchLabels: canaryLabel } }) },
    poll: { interval: isPolledOften ? '1m' : '1h' },
  };
  return { action, ...defined({ follows, canary }), tag, workloads, maxParallel, isPolledOften, spec };
}

/** The labels that a workload has at first. */
export function labelsOf({ name }: Pick<WorkloadSetup, 'name'>, { canary }: BaseSetup): Readonly<Record<string, string>> {
  return name === canary ? { ...appLabel, ...canaryLabel } : appLabel;
}
