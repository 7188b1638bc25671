import { customResourceDefinition } from '../../src/api-versions/crd.ts';
import { group, plural } from '../../src/api-versions/group.ts';
import type { ControlPlane } from '../harness/control-plane.ts';
import { waitFor } from '../harness/wait-for.ts';

/** Where the policies of a namespace are. */
export const policiesPath = (namespace: string, version: string): string => `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;

/** Installs the definition with some of its versions and without conversion (so they must not be mixed), and waits until it is served. */
export async function installCrd(cluster: ControlPlane, only: readonly ('v1' | 'v1alpha1')[]): Promise<void> {
  const crd = customResourceDefinition();
  const versions = crd.spec.versions
    .filter(({ name }) => only.some((wanted) => wanted === name))
    .map((version) => ({ ...version, storage: version.name === only[0] }));
  await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { ...crd, spec: { ...crd.spec, versions } });
  for (const version of only) {
    await waitFor(`${version} to be served`, async () => {
      const list = await cluster.request('GET', `${policiesPath('default', version)}?limit=1`).catch((error: unknown) => error);
      return !(list instanceof Error);
    });
  }
}
