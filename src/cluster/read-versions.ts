/** Which versions of policies the API server has, read without their contents. */
import { createKeyedMutex } from '../async/serialize.ts';
import type { KubeClient } from '../kube/client.ts';
import { listPath, metadataForms, objectPath, readMetadataOnly } from '../kube/objects.ts';
import { readMetadata } from '../kube/watch-events.ts';
import { policyResource } from './policy-watches.ts';

/** Reads the resourceVersion that a policy has now; undefined if there is no such policy. */
export type ReadVersion = (namespace: string, name: string) => Promise<string | undefined>;

/** Fewer policies are read one by one, more as a list of their namespace. */
const fewest = 4;

/**
 * Creates the reader. A single policy is read at once; those that are asked for meanwhile are read together afterwards, so that a push of an image that hundreds of
 * policies watch costs a few requests. Of a namespace with more than `pageSize` policies, only the first ones are read as a list.
 */
export function createVersionReader(client: KubeClient, pageSize = 500): ReadVersion {
  const mutex = createKeyedMutex();
  const waiting = new Map<string, { readonly names: Set<string>; readonly versions: Promise<Versions> }>();
  const open = (namespace: string) => {
    const names = new Set<string>();
    const versions = mutex.run(namespace, () => {
      waiting.delete(namespace);
      return names.size < fewest ? readEach(client, namespace, [...names]) : readListed(client, namespace, [...names], pageSize);
    });
    const batch = { names, versions };
    waiting.set(namespace, batch);
    return batch;
  };
  return async (namespace, name) => {
    const { names, versions } = waiting.get(namespace) ?? open(namespace);
    names.add(name);
    return (await versions).get(name);
  };
}

type Versions = ReadonlyMap<string, string>;

async function readListed(client: KubeClient, namespace: string, names: readonly string[], limit: number): Promise<Versions> {
  const { items, metadata } = await client.request<{ items: readonly unknown[]; metadata: { readonly continue?: string } }>({
    method: 'GET',
    path: listPath(policyResource, namespace),
    query: { limit },
    accept: metadataForms.list,
  });
  const listed = new Map(items.map(versionOf));
  if (!metadata.continue) return listed;
  return new Map([
    ...listed,
    ...(await readEach(
      client,
      namespace,
      names.filter((name) => !listed.has(name)),
    )),
  ]);
}

async function readEach(client: KubeClient, namespace: string, names: readonly string[]): Promise<Versions> {
  const found = await Promise.all(names.map((name) => readMetadataOnly(client, objectPath(policyResource, namespace, name))));
  return new Map(found.filter((object) => object !== undefined).map(versionOf));
}

function versionOf(object: unknown): [name: string, resourceVersion: string] {
  const { name, resourceVersion } = readMetadata(object);
  return [name, resourceVersion];
}
