/** Reads the facts about the CustomResourceDefinitions of all kinds. */
import { describeError } from '../../core/model/errors.ts';
import { defined } from '../../core/model/defined.ts';
import type { AddedKindFacts, DefinitionFacts } from '../../service/doctor/checks/definition.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import type { CustomResourceDefinition } from '../../service/kube/crd/definition.ts';
import { definitionsOf } from '../../service/resources/definitions.ts';
import type { ResourceGroup } from '../../service/resources/resource-group.ts';

/** An installed definition, or why it cannot be read; undefined if there is none. */
export type Definition = CustomResourceDefinition | { readonly why: string } | undefined;

interface Cluster {
  readonly client: Pick<KubeClient, 'request'>;
  readonly read: (name: string) => Promise<Definition>;
}

/** The definition of ImagePolicy, which is read already, with one object in each of its versions, and the definition of each kind that a wing adds. */
export async function readDefinitions(
  { kinds, policyDefinition }: ResourceGroup,
  installed: Definition,
  { client, read }: Cluster,
): Promise<DefinitionFacts> {
  if (installed !== undefined && 'why' in installed) return installed;
  const expected = policyDefinition(installed).spec.versions;
  if (installed === undefined) return { installed, expected, added: [], reads: [] };
  const { objectsPath } = await import('../../service/kube/crd/definition.ts');
  const served = installed.spec.versions.filter((version) => version.served !== false);
  const reads = served.map(async ({ name: version }) => {
    // One object is read in each served version, because the API server converts objects that are stored in another one.
    const request = { method: 'GET', path: objectsPath(installed, version), query: { limit: 1 } } as const;
    return {
      version,
      why: await client.request(request).then(
        () => undefined,
        (error: unknown) => describeError(error),
      ),
    };
  });
  return { installed, expected, added: await readAdded(kinds, read), reads: await Promise.all(reads) };
}

/** What is installed of each kind that a wing adds. */
export function readAdded(kinds: ResourceGroup['kinds'], read: Cluster['read']): Promise<AddedKindFacts[]> {
  const all = definitionsOf(kinds).map(async ({ kind, withoutIt, recordsOf, name, object }) => {
    const installed = await read(name);
    const isUnreadable = installed !== undefined && 'why' in installed;
    return {
      kind,
      withoutIt,
      ...defined({ recordsOf }),
      definition: isUnreadable ? installed : { installed, expected: object.spec.versions },
    };
  });
  return Promise.all(all);
}
