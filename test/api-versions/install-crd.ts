import { customResourceDefinition } from '../../src/api-versions/crd.ts';
import { group, plural } from '../../src/api-versions/group.ts';
import type { ControlPlane } from '../harness/control-plane.ts';
import { waitFor } from '../harness/wait-for.ts';

/** Where the policies of a namespace are. */
export const policiesPath = (namespace: string, version: string): string => `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;

/** Installs the definition with a single version, so that no conversion is needed, and waits until it is served. */
export async function installCrd(cluster: ControlPlane, only: 'v1' | 'v1alpha1'): Promise<void> {
  const crd = customResourceDefinition();
  const versions = crd.spec.versions.filter(({ name }) => name === only).map((version) => ({ ...version, storage: true }));
  await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { ...crd, spec: { ...crd.spec, versions } });
  await waitFor(`${only} to be served`, async () => {
    const list = await cluster.request('GET', `${policiesPath('default', only)}?limit=1`).catch((error: unknown) => error);
    return !(list instanceof Error);
  });
}
