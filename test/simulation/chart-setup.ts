/** What seeds with charts have in addition: resources that install charts and other artifacts, their HelmRepositories, and the policies that update them. */
import { chartKinds, resourceOf, type ChartKind } from './chart-kinds.ts';
import { contentOf } from './image-content.ts';
import { charts, web } from './images.ts';
import type { Random } from './random.ts';
import { otherNamespace, policyNamespace, type PolicySetup, type WorkloadSetup } from './setup.ts';

export interface ChartSetup {
  readonly workloads: readonly WorkloadSetup[];
  readonly policies: readonly PolicySetup[];
  /** The namespaces that have a HelmRepository. */
  readonly sources: readonly string[];
}

const share = 0.3;
/** The version that is installed at first: higher than all that are pushed as older ones, and no image has it. */
export const firstVersion = '0.9.99';

/** Draws it: in some of all seeds. */
export function drawCharts(random: Random): ChartSetup | undefined {
  if (!random.chance(share)) return undefined;
  const first = random.pick(Object.keys(chartKinds) as ChartKind[]);
  const second = random.pick(Object.keys(chartKinds) as ChartKind[]);
  const kinds = [...new Set(random.chance(0.5) ? [first, second] : [first])];
  const sourceNamespace = random.chance(0.3) ? otherNamespace : undefined;
  const drawn = kinds.map((kind) => drawPolicy(kind, random, sourceNamespace));
  const workloads = drawn.flatMap((one) => one.workloads);
  const releases = workloads.filter(({ kind }) => kind === 'HelmRelease');
  const sources = [...new Set(releases.map(({ namespace }) => sourceNamespace ?? namespace))];
  return { workloads, policies: drawn.map(({ policy }) => policy), sources };
}

function drawPolicy(kind: ChartKind, random: Random, sourceNamespace: string | undefined) {
  const { apiVersion, field } = chartKinds[kind];
  const artifact = kind === 'OCIRepository' ? random.pick(['Any', 'Chart'] as const) : 'Chart';
  const repository = random.pick([web, charts]);
  // Only an OCIRepository has a field for a digest.
  const pin = kind === 'OCIRepository' && random.chance(0.5) ? 'Digest' : 'Tag';
  const installed = `${repository}:${firstVersion}${pin === 'Digest' ? `@${contentOf('chart', 0).digest}` : ''}`;
  const workloads = Array.from({ length: random.pick([1, 1, 2, 3]) }, (_, index): WorkloadSetup => {
    const namespace = index > 0 && random.chance(0.3) ? otherNamespace : policyNamespace;
    const source = kind === 'HelmRelease' && sourceNamespace !== undefined ? { sourceNamespace } : {};
    return {
      kind,
      resource: resourceOf(kind),
      namespace,
      name: `${kind.toLowerCase()}${index}`,
      images: { [field]: installed },
      ...source,
    };
  });
  const fields = { tag: field, ...(pin === 'Digest' && { digest: 'spec.ref.digest' }) };
  const onFailure = random.pick(['Rollback', 'Rollback', 'Hold']);
  const waves = random.chance(0.3) && { waves: { maxParallel: 1, pause: '1s' } };
  const policy: PolicySetup = {
    name: `of-${kind.toLowerCase()}`,
    repository,
    container: field,
    artifact,
    spec: {
      image: repository,
      artifact,
      select: { semver: { range: '>=0.1.0' } },
      targets: workloads.map(({ namespace, name }) => ({ apiVersion, kind, namespace, name, fields })),
      update: { mode: random.chance(0.15) ? 'Approval' : 'Automatic', pin },
      poll: { interval: random.pick(['1h', '30s']) },
      rollout: random.chance(0.8) ? { watch: true, onFailure, ...waves } : { watch: false },
    },
  };
  return { workloads, policy };
}
