/** A world with the definitions of what installs charts, as Flux, Argo CD and k3s publish them. */
import type { CustomKind } from '../service/kube/targets/custom-definition.ts';
import { installDefinition } from '../service/kube/targets/real-definition.ts';
import { startWorld, type World } from './world.ts';

export const chartKinds = {
  application: { group: 'argoproj.io', version: 'v1alpha1', kind: 'Application', plural: 'applications' },
  applicationset: { group: 'argoproj.io', version: 'v1alpha1', kind: 'ApplicationSet', plural: 'applicationsets' },
  ocirepository: { group: 'source.toolkit.fluxcd.io', version: 'v1', kind: 'OCIRepository', plural: 'ocirepositories' },
  helmrelease: { group: 'helm.toolkit.fluxcd.io', version: 'v2', kind: 'HelmRelease', plural: 'helmreleases' },
  helmrepository: { group: 'source.toolkit.fluxcd.io', version: 'v1', kind: 'HelmRepository', plural: 'helmrepositories' },
  helmchart: { group: 'helm.cattle.io', version: 'v1', kind: 'HelmChart', plural: 'helmcharts' },
} as const satisfies Record<string, CustomKind>;
export type ChartKind = keyof typeof chartKinds;

/** Starts a world in which the service may change these kinds; HelmRepositories it only reads. */
export async function startChartWorld(names: readonly ChartKind[], options: { controllers?: boolean } = {}): Promise<World> {
  const extraRules = names.map((name) => ({
    apiGroups: [chartKinds[name].group],
    resources: [chartKinds[name].plural],
    verbs: ['get', 'list', 'watch', ...(name === 'helmrepository' ? [] : ['patch'])],
  }));
  const world = await startWorld({ extraRules, ...options });
  for (const name of names) await installDefinition(world.cluster, name);
  return world;
}
