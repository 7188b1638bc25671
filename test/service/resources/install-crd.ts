import { customResourceDefinition } from '../../../src/conversion/definition.ts';
import { group, plural } from '../../../src/service/resources/group.ts';
import type { ControlPlane } from '../../harness/control-plane.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { addedDefinition, addedDefinitions } from '../../harness/resource-group.ts';

/** Where the policies of a namespace are. */
export const policiesPath = (namespace: string, version: string): string => `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;

/** Where the objects of a kind with one version are. */
export const plainPath = (kind: string, namespace: string): string =>
  `/apis/${group}/v1/namespaces/${namespace}/${addedDefinition(kind).plural}`;

/** Installs the definitions of the kinds that have one version, and waits until they are served. */
export async function installPlainCrds(cluster: ControlPlane): Promise<void> {
  for (const { kind, object } of addedDefinitions) {
    await cluster.request('POST', definitions, object);
    await waitForList(cluster, plainPath(kind, 'default'));
  }
}

/** Installs the definition with some of its versions and without conversion (so they must not be mixed), and waits until it is served. */
export async function installCrd(cluster: ControlPlane, only: readonly ('v1' | 'v1alpha1')[]): Promise<void> {
  const crd = customResourceDefinition();
  const versions = crd.spec.versions
    .filter(({ name }) => only.some((wanted) => wanted === name))
    .map((version) => ({ ...version, storage: version.name === only[0] }));
  await cluster.request('POST', definitions, { ...crd, spec: { ...crd.spec, versions } });
  for (const version of only) await waitForList(cluster, policiesPath('default', version));
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

async function waitForList(cluster: ControlPlane, path: string): Promise<void> {
  await waitFor(`${path} to be served`, async () => {
    const list = await cluster.request('GET', `${path}?limit=1`).catch((error: unknown) => error);
    return !(list instanceof Error);
  });
}
