/** The definitions of Flux, Argo CD and the Helm controller of k3s, as their projects publish them, without descriptions. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { ControlPlane } from '../../../harness/control-plane.ts';
import { waitFor } from '../../../harness/wait-for.ts';

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[];
  };
}

/** Installs a definition of `test/fixtures/definitions`, and waits until it is served. Versions that it has no longer are served with its first schema. */
export async function installDefinition(
  cluster: Pick<ControlPlane, 'request'>,
  name: string,
  versions: readonly string[] = [],
): Promise<void> {
  const bytes = gunzipSync(readFileSync(join(import.meta.dirname, '../../../fixtures/definitions', `${name}.json.gz`)));
  const definition = JSON.parse(bytes.toString()) as Definition;
  const { group, names, versions: own } = definition.spec;
  const former = versions.filter((version) => !own.some((one) => one.name === version));
  const all = [...own, ...former.map((version) => ({ ...own[0], name: version, served: true, storage: false }))];
  const spec = { ...definition.spec, versions: all };
  await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { ...definition, spec });
  for (const { name: version } of all)
    await waitFor(`${names.plural} ${version} to be served`, () => cluster.request('GET', `/apis/${group}/${version}/${names.plural}`));
}
