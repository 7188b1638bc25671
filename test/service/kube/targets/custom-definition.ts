import type { ControlPlane } from '../../../harness/control-plane.ts';
import { waitFor } from '../../../harness/wait-for.ts';

/** A kind of custom resource. */
export interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
}

/** What others install in clusters. */
export const known = {
  rollout: { group: 'argoproj.io', version: 'v1alpha1', kind: 'Rollout', plural: 'rollouts' },
  application: { group: 'argoproj.io', version: 'v1alpha1', kind: 'Application', plural: 'applications' },
  knativeService: { group: 'serving.knative.dev', version: 'v1', kind: 'Service', plural: 'services' },
  helmRelease: { group: 'helm.toolkit.fluxcd.io', version: 'v2', kind: 'HelmRelease', plural: 'helmreleases' },
  helmRepository: { group: 'source.toolkit.fluxcd.io', version: 'v1', kind: 'HelmRepository', plural: 'helmrepositories' },
} as const;

/** Installs a small definition that keeps whatever the spec holds, and waits until it is served. */
export async function installKind(cluster: Pick<ControlPlane, 'request'>, { group, version, kind, plural }: CustomKind): Promise<void> {
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    // Groups of Kubernetes' own projects are not for everybody.
    metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
    },
  };
  await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  await waitFor(`${kind} to be served`, () => cluster.request('GET', `/apis/${group}/${version}/${plural}`));
}

/** Takes it away, with all objects. */
export async function removeKind(cluster: Pick<ControlPlane, 'request'>, { group, plural }: CustomKind): Promise<void> {
  await cluster.request('DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`);
}

/** Its collection in a namespace. */
export function pathOf({ group, version, plural }: CustomKind, namespace: string): string {
  return `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
}
