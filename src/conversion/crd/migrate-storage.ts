import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '../../core/model/defined.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { crdPath, type CustomResourceDefinition, requireCrd, storageVersionOf } from '../../service/kube/crd/definition.ts';
import { fieldManager } from '../../core/model/last-update.ts';
import { listPath, objectPath } from '../../service/kube/objects.ts';
import { retryOnConflict } from '../../service/kube/retry.ts';
import { type RefusedObject, rewriteAll, type RewriteCounts } from './rewrite-objects.ts';

/** What the migration found and did. */
export interface Migration {
  readonly storageVersion: string;
  /** The number of objects found by the first pass; 0 if storedVersions already showed that there was nothing to do. */
  readonly total: number;
  readonly rewritten: number;
  readonly refused: readonly RefusedObject[];
  readonly storedVersions: readonly string[];
}

export interface MigrationOptions {
  readonly name: string;
  readonly concurrency: number;
  readonly onProgress: (counts: RewriteCounts, pass: number) => void;
  readonly pageSize?: number;
  readonly signal?: AbortSignal | undefined;
  /** Waits until every API server uses the current definition. */
  readonly propagate?: (signal: AbortSignal | undefined) => Promise<void>;
}

/**
 * API servers learn of a changed definition by a watch. Until then they store rewritten objects in the former version without an error. They wait this long
 * themselves where they depend on each other (`customresource_handler.go`).
 */
const propagationMs = 2_000;
const maxPasses = 5;

/**
 * Stores every object in the storage version, then removes the others from `status.storedVersions`. A pass that rewrote something is followed by another over
 * later changes. Only a pass that finds nothing to rewrite, under an unchanged definition, proves that the migration is complete: a write that began before the
 * storage version changed may finish later. The migration can be interrupted and repeated. If objects were refused, `storedVersions` is unchanged.
 */
export async function migrateStorage(client: KubeClient, options: MigrationOptions): Promise<Migration> {
  const { name, concurrency, onProgress, signal, propagate = () => delay(propagationMs, undefined, { signal }) } = options;
  const known = new Map<string, string>();
  let rewritten = 0;
  let total = 0;
  let generation: number | undefined;
  for (let pass = 1; pass <= maxPasses; pass++) {
    const crd = await requireCrd(client, name, signal);
    const storageVersion = storageVersionOf(crd);
    const stored = crd.status?.storedVersions ?? [];
    if (stored.join() === storageVersion) return { storageVersion, total, rewritten, refused: [], storedVersions: stored };
    refuseWithoutConversion(crd);
    if (crd.metadata.generation !== generation) {
      known.clear();
      await propagate(signal);
    }
    ({ generation } = crd.metadata);
    const resource = { apiVersion: `${crd.spec.group}/${storageVersion}`, resource: crd.spec.names.plural };
    const counts = await rewriteAll(client, {
      listPath: listPath(resource),
      pathOf: (namespace, object) => objectPath(resource, namespace, object),
      known,
      concurrency,
      onProgress: (counts) => onProgress(counts, pass),
      signal,
      ...defined({ pageSize: options.pageSize }),
    });
    rewritten += counts.rewritten;
    if (pass === 1) total = counts.total;
    const { refused } = counts;
    if (refused.length > 0) return { storageVersion, total, rewritten, refused, storedVersions: stored };
    if (counts.rewritten === 0 && (await pruneStoredVersions(client, crd, signal))) {
      return { storageVersion, total, rewritten, refused, storedVersions: [storageVersion] };
    }
  }
  throw new Error(
    `in each of ${maxPasses} passes objects had to be rewritten, or the definition changed: check for an API server or program that still uses the old definition, and run it again`,
  );
}

/** Removes the former versions. Returns false if the definition has changed since the pass began, because the pass then proves nothing. */
async function pruneStoredVersions(client: KubeClient, began: CustomResourceDefinition, signal: AbortSignal | undefined): Promise<boolean> {
  const storedVersions = [storageVersionOf(began)];
  return retryOnConflict(async () => {
    const { metadata, status } = await requireCrd(client, began.metadata.name, signal);
    if (metadata.generation !== began.metadata.generation) return false;
    // A concurrent migration has written the same versions.
    if (status?.storedVersions?.join() === storedVersions.join()) return true;
    await client.request({
      method: 'PATCH',
      path: `${crdPath(metadata.name)}/status`,
      query: { fieldManager },
      contentType: 'application/merge-patch+json',
      body: { metadata: { resourceVersion: metadata.resourceVersion }, status: { storedVersions } },
      signal,
    });
    return true;
  }, Infinity);
}

/** Throws if there is no webhook: the API server would then only rename the version, and drop all fields that are unknown in the new one. */
function refuseWithoutConversion({ metadata, spec, status }: CustomResourceDefinition): void {
  const others = (status?.storedVersions ?? []).filter(
    (version) => !spec.versions.some(({ name, storage }) => storage && name === version),
  );
  if (others.length === 0 || spec.conversion?.strategy === 'Webhook') return;
  throw new Error(
    `the CustomResourceDefinition ${metadata.name} has no conversion webhook, but objects may be stored as ${others.join(', ')}: rewriting them would drop their fields. Run "crd apply" first`,
  );
}
