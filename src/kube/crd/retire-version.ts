import type { KubeClient } from '../client.ts';
import { crdPath, objectsPath, requireCrd, storageVersionOf } from './crd-versions.ts';
import { fieldManager } from '../../model/last-update.ts';
import { retryOnConflict } from '../retry.ts';
import { findUses, type VersionUse, versionUsesOf } from './version-uses.ts';

/** What came of it: with uses nothing was changed. */
export interface Retirement {
  readonly action: 'retired' | 'unchanged' | 'refused';
  readonly uses: readonly VersionUse[];
}

/**
 * Stops serving a version, unless an object still needs it. It stays in the definition: managedFields name it, and the API server must be able to convert
 * those. Throws when objects may still be stored in it.
 */
export async function retireVersion(
  client: KubeClient,
  { name, version, since, signal }: { name: string; version: string; since: Date; signal?: AbortSignal | undefined },
): Promise<Retirement> {
  return retryOnConflict(async () => {
    const crd = await requireCrd(client, name, signal);
    const { spec, status } = crd;
    if (!spec.versions.some((one) => one.name === version && one.served !== false)) return { action: 'unchanged', uses: [] };
    if (storageVersionOf(crd) === version || status?.storedVersions?.includes(version)) {
      throw new Error(`objects may still be stored as ${version}: migrate them first`);
    }
    const query = { apiVersion: `${spec.group}/${version}`, since };
    const uses = await findUses(client, { listPath: objectsPath(crd, storageVersionOf(crd)), signal }, (object) =>
      versionUsesOf(object, query),
    );
    if (uses.length > 0) return { action: 'refused', uses };
    const versions = spec.versions.map((one) => (one.name === version ? { ...one, served: false } : one));
    await client.request({
      method: 'PUT',
      path: crdPath(name),
      query: { fieldManager },
      body: { ...crd, spec: { ...spec, versions } },
      signal,
    });
    return { action: 'retired', uses };
  });
}
