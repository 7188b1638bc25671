import { defined } from '../../core/model/defined.ts';
import { fieldsOf, parseJson } from '../../core/model/untyped.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { crdPath, type CustomResourceDefinition, objectsPath, requireCrd, storageVersionOf } from '../../service/kube/crd/definition.ts';
import { fieldManager } from '../../core/model/last-update.ts';
import { retryOnConflict } from '../../service/kube/retry.ts';
import { listPages } from '../../service/kube/objects.ts';

/** The result. If there are uses, nothing was changed. */
export interface Retirement {
  readonly action: 'retired' | 'unchanged' | 'refused';
  readonly uses: readonly VersionUse[];
}

/**
 * Stops serving a version, unless an object still needs it. The version stays in the definition, because managedFields name it, and the API server must be able
 * to convert those. Throws if objects may still be stored in it.
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

/** An object that still depends on a version, and why. */
export interface VersionUse {
  readonly namespace: string;
  readonly name: string;
  readonly why: string;
}

/** The version, and the time from which its use counts. */
export interface UseQuery {
  readonly apiVersion: string;
  readonly since: Date;
}

interface Described {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly managedFields?: readonly ManagedFields[];
  };
}

interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Why an object needs a version: its manifest is maintained in that version (kubectl apply, server-side apply), or somebody has written it through that version
 * since the given time. Older writes do not count, because they stay recorded forever.
 */
export function versionUsesOf({ metadata }: Described, { apiVersion, since }: UseQuery): string[] {
  const uses: string[] = [];
  if (apiVersionOf(metadata.annotations?.[lastApplied]) === apiVersion) uses.push('its manifest was applied in that version');
  for (const { manager = 'unknown', operation, apiVersion: used, time } of metadata.managedFields ?? []) {
    if (used !== apiVersion) continue;
    if (operation === 'Apply') uses.push(`${manager} applies it server-side in that version`);
    else if (time !== undefined && Date.parse(time) >= since.getTime()) uses.push(`${manager} wrote it through that version at ${time}`);
  }
  return uses;
}

/**
 * Throws if the managedFields of an object name a version that is to be removed: without it, the API server drops the field owners at the next write, and answers
 * server-side apply with 500.
 */
export async function refuseOwnedThrough(client: KubeClient, crd: CustomResourceDefinition, version: string): Promise<void> {
  if (!crd.spec.versions.some(({ name }) => name === version)) return;
  const apiVersion = `${crd.spec.group}/${version}`;
  const reasonsOf = ({ metadata }: Described) =>
    (metadata.managedFields ?? []).some((entry) => entry.apiVersion === apiVersion) ? [apiVersion] : [];
  const [first, ...more] = await findUses(client, { listPath: objectsPath(crd, storageVersionOf(crd)) }, reasonsOf);
  if (!first) return;
  throw new Error(
    `the managedFields of ${1 + more.length} objects (${first.namespace}/${first.name} …) name ${version}: server-side apply to them would fail without it. ` +
      'Keep it in the definition: a retired version does no harm',
  );
}

/** Lists all objects, with the reasons that `reasonsOf` returns for each. */
export async function findUses(
  client: KubeClient,
  { listPath, signal }: { listPath: string; signal?: AbortSignal | undefined },
  reasonsOf: (object: Described) => readonly string[],
): Promise<VersionUse[]> {
  const uses: VersionUse[] = [];
  for await (const { items } of listPages(client, { path: listPath, pageSize: 500, ...defined({ signal }) })) {
    for (const object of items as readonly Described[]) {
      const { namespace, name } = object.metadata;
      uses.push(...reasonsOf(object).map((why) => ({ namespace, name, why })));
    }
  }
  return uses;
}

function apiVersionOf(manifest: string | undefined): unknown {
  return fieldsOf(parseJson(manifest))['apiVersion'];
}
