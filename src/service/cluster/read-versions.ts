/** Reads the versions of policies from the API server without their contents. */
import { createKeyedMutex } from '../../core/async/serialize.ts';
import type { KubeClient } from '../kube/client.ts';
import { listPath, metadataForms, objectPath, readMetadataOnly } from '../kube/objects.ts';
import { readMetadata } from '../kube/watch-events.ts';
import { policyResource } from '../resources/group.ts';

/** Reads the current resourceVersion of a policy; undefined if it does not exist. */
export type ReadVersion = (namespace: string, name: string) => Promise<string | undefined>;

/** The number of policies of a namespace from which on they are read as a list. Fewer are read one by one. */
const fewestListed = 4;
/** The timeout of a request. Those who wait behind it must not wait for a connection that has died. */
const timeoutMs = 3_000;

/**
 * Creates the reader. A single policy is read without delay; policies that are requested during that read are read together afterwards. So a push of an image
 * that hundreds of policies watch costs a few requests. Of a namespace with more than `pageSize` policies, only the first ones are read as a list.
 */
export function createVersionReader(client: KubeClient, pageSize = 500): ReadVersion {
  const mutex = createKeyedMutex();
  const waiting = new Map<string, { readonly names: Set<string>; readonly versions: Promise<Versions> }>();
  const open = (namespace: string) => {
    const names = new Set<string>();
    const versions = mutex.run(namespace, () => {
      waiting.delete(namespace);
      return readVersions(client, namespace, [...names], pageSize);
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

async function readVersions(client: KubeClient, namespace: string, names: readonly string[], limit: number): Promise<Versions> {
  // A failed list is no failure, because it may be due to an object that does not concern these policies.
  const listed = names.length < fewestListed ? undefined : await readPage(client, namespace, limit).catch(() => undefined);
  if (listed?.isWhole === true) return listed.versions;
  const others = names.filter((name) => listed?.versions.has(name) !== true);
  const paths = others.map((name) => objectPath(policyResource, namespace, name));
  const found = await Promise.all(paths.map((path) => readMetadataOnly(client, path, timeoutMs)));
  return new Map([...(listed?.versions ?? []), ...found.filter((object) => object !== undefined).map(versionOf)]);
}

/** Reads the first page of the policies of a namespace, and whether there are further pages. */
async function readPage(client: KubeClient, namespace: string, limit: number): Promise<{ versions: Versions; isWhole: boolean }> {
  const { items, metadata } = await client.request<{ items?: readonly unknown[] | null; metadata?: { readonly continue?: string } }>({
    method: 'GET',
    path: listPath(policyResource, namespace),
    query: { limit },
    accept: metadataForms.list,
    timeoutMs,
  });
  return { versions: new Map((items ?? []).map(versionOf)), isWhole: !metadata?.continue };
}

function versionOf(object: unknown): [name: string, resourceVersion: string] {
  const { name, resourceVersion } = readMetadata(object);
  return [name, resourceVersion];
}
