/** What installs the images and the charts of shared and separate repositories, and what each of them held, one after the other. */
import { parseFieldPath } from '../../src/core/model/field-path.ts';
import { valueAt } from '../../src/service/resources/validation/problem.ts';
import type { Spec } from '../../src/service/resources/v1.ts';
import { watchObjects } from '../harness/watch-objects.ts';
import { pathOf } from '../service/kube/targets/custom-definition.ts';
import { chartResources, typeOf } from './chart-resources.ts';
import { type ChartKind, chartKinds } from './chart-world.ts';
import { type Artifact, compareVersions, first, type Kind } from './mixed-pushes.ts';
import type { World } from './world.ts';

/** A resource, and the policy of the same name that changes it. */
export interface Target {
  readonly name: string;
  readonly repository: string;
  readonly artifact: Kind | 'Any';
  readonly kind: ChartKind | 'deployment';
  readonly tag: string;
  readonly digest?: string;
}

const image = { kind: 'deployment', artifact: 'Image', tag: 'spec.template.spec.containers[0].image' } as const;
const application = { kind: 'application', artifact: 'Chart', tag: 'spec.source.targetRevision' } as const;
const ociRepository = { kind: 'ocirepository', tag: 'spec.ref.tag' } as const;
const release = { kind: 'helmrelease', artifact: 'Chart', tag: 'spec.chart.spec.version' } as const;

export const targets: readonly Target[] = [
  { name: 'both-image', repository: 'shop/both', ...image },
  { name: 'both-chart', repository: 'shop/both', ...application },
  { name: 'both-any', repository: 'shop/both', ...ociRepository, artifact: 'Any' },
  { name: 'both-pinned', repository: 'shop/both', ...ociRepository, artifact: 'Chart', digest: 'spec.ref.digest' },
  { name: 'web-image', repository: 'shop/web', ...image },
  { name: 'web-chart', repository: 'shop/web', ...application },
  { name: 'release', repository: 'charts/release', ...release },
  { name: 'release-image', repository: 'charts/release', ...image },
];

/** Whether the policy of the target selects such an artifact. */
export function selects({ repository, artifact }: Target, one: Artifact): boolean {
  return one.repository === repository && (artifact === 'Any' || artifact === one.kind);
}

/** What the target has to hold when all that was pushed is applied. */
export function newestFor(target: Target, pushed: ReadonlyMap<Artifact, string>): string {
  const own = [...pushed].filter(([one]) => selects(target, one)).toSorted(([a], [b]) => compareVersions(a.version, b.version));
  const [artifact, digest] = own.at(-1) ?? [];
  return target.digest === undefined ? (artifact?.version ?? '') : `${artifact?.version}@${digest}`;
}

/** Creates all targets on what is in their repositories already, with their policies. */
export async function createTargets(world: World, pushed: ReadonlyMap<Artifact, string>): Promise<void> {
  const url = `oci://${world.quiet.host}/charts`;
  await chartResources(world).create('helmrepository', 'charts', { interval: '5m', type: 'oci', insecure: true, url });
  for (const target of targets) await createTarget(world, target, pushed);
  for (const target of targets) await createPolicy(world, target);
}

async function createTarget(world: World, target: Target, pushed: ReadonlyMap<Artifact, string>): Promise<void> {
  const { name, kind, repository } = target;
  const { host } = world.quiet;
  const version = first[target.artifact === 'Image' ? 'Image' : 'Chart'];
  const [parent = '', chart = ''] = repository.split('/');
  if (kind === 'deployment') return world.createDeployment(name, `${host}/${repository}:${version}`);
  const source = { repoURL: `${host}/${parent}`, chart, targetRevision: version };
  const digest = target.digest && [...pushed].find(([one]) => selects(target, one))?.[1];
  const specs: Partial<Record<ChartKind, object>> = {
    application: { project: 'default', destination: { namespace: 'shop' }, source },
    ocirepository: { interval: '1h', url: `oci://${host}/${repository}`, ref: { tag: version, ...(digest && { digest }) } },
    helmrelease: { interval: '5m', chart: { spec: { chart, version, sourceRef: { kind: 'HelmRepository', name: 'charts' } } } },
  };
  await chartResources(world).create(kind, name, specs[kind] ?? {});
}

async function createPolicy(world: World, { name, repository, artifact, kind, tag, digest }: Target): Promise<void> {
  const own: Spec['targets'][number] =
    kind === 'deployment'
      ? { kind: 'Deployment', name }
      : { ...typeOf(kind), name, fields: { tag, ...(digest !== undefined && { digest }) } };
  const more: Partial<Spec> = { artifact, targets: [own], ...(digest !== undefined && { update: { pin: 'Digest' } }) };
  await world.createPolicy(name, `${world.quiet.host}/${repository}`, { strategy: 'SemVer' }, more);
  await world.waitForFirstLook(name);
}

interface Raw {
  readonly metadata: { readonly name: string };
}

/** Follows the fields of all targets by watches, from now on. */
export async function followTargets({ cluster, namespace }: World) {
  const seen = new Map<string, string[]>(targets.map(({ name }) => [name, []]));
  const note = (kind: Target['kind'], raw: Raw) => {
    const target = targets.find((one) => one.name === raw.metadata.name && one.kind === kind);
    if (target === undefined) return;
    const read = (path: string) => String(valueAt(raw, parseFieldPath(path)));
    const tag = target.kind === 'deployment' ? (read(target.tag).split(':').at(-1) ?? '') : read(target.tag);
    const value = target.digest === undefined ? tag : `${tag}@${read(target.digest)}`;
    const values = seen.get(target.name) ?? [];
    if (values.at(-1) !== value) values.push(value);
  };
  const follow = async (kind: Target['kind']) => {
    const path = kind === 'deployment' ? `/apis/apps/v1/namespaces/${namespace}/deployments` : pathOf(chartKinds[kind], namespace);
    const watch = await watchObjects<Raw>(cluster, path, (raw) => note(kind, raw));
    for (const raw of watch.items) note(kind, raw);
    return watch;
  };
  const watches = await Promise.all([...new Set(targets.map(({ kind }) => kind))].map(follow));
  return {
    /** What each target held, in order: tag, and `@digest` where it has a field for it. */
    seen,
    countValues: () => [...seen.values()].reduce((sum, values) => sum + values.length, 0),
    error: () => watches.find(({ error }) => error !== undefined)?.error,
    stop() {
      for (const watch of watches) watch.stop();
    },
  };
}
