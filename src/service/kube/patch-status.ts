import type { KubeClient } from './client.ts';
import { fieldManager } from '../../core/model/last-update.ts';
import { isKubeError } from './kube-error.ts';
import { readObject } from './objects.ts';
import { retryOnConflict } from './retry.ts';
import { fieldsOf, isObject, isSameJson, type JsonObject } from '../../core/model/untyped.ts';

/** The object as known before the first try. With `uid`, another object of the same name counts as deleted. */
export interface KnownStatus {
  readonly resourceVersion: string;
  readonly status?: unknown;
  readonly generation?: number | undefined;
  readonly uid?: string;
}

export interface StatusPatch {
  readonly client: KubeClient;
  /** The path of the object, without `/status`. */
  readonly path: string;
  readonly current: KnownStatus;
  /** Returns the new status for the current one and its object's generation; undefined or equal: no write. Pure, because it is called again after conflicts. */
  readonly update: (status: unknown, generation: number | undefined) => object | undefined;
  /** Fields that are all written if one of them is, because the server may still have the others in an older form. */
  readonly together?: readonly string[];
  /** Awaited before each write, with the status before and after it; must not reject. */
  readonly beforeWrite?: ((before: unknown, after: unknown) => Promise<void>) | undefined;
  /** Whether to write only if the object is exactly the known one. If it has changed, the 409 is thrown. */
  readonly isExclusive?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface RawObject {
  readonly metadata: { readonly resourceVersion: string; readonly uid: string; readonly generation?: number };
  readonly status?: unknown;
}

const maxTries = 20;

/**
 * Writes what `update` changes, in one request that is guarded by resourceVersion. After a conflict (409, another writer was faster) it reads the object and tries
 * again at once; the twentieth 409 is thrown, so that the job is retried. Returns the resulting object; undefined if there was nothing to write for the known
 * state, or if the object was deleted.
 */
export async function patchStatus({
  client,
  path,
  current,
  update,
  together = [],
  beforeWrite,
  isExclusive = false,
  signal,
}: StatusPatch): Promise<unknown> {
  const readAgain = async (): Promise<RawObject | undefined> => {
    const read = await readObject<RawObject>(client, path, signal);
    return current.uid === undefined || read?.metadata.uid === current.uid ? read : undefined;
  };
  const patch = async (known: KnownStatus, object: RawObject | undefined): Promise<unknown> => {
    const change = diffStatus(known, update, together);
    if (!change) return object;
    await beforeWrite?.(change.before, change.after);
    return client.request({
      method: 'PATCH',
      path: `${path}/status`,
      query: { fieldManager },
      contentType: 'application/merge-patch+json',
      body: { metadata: { resourceVersion: known.resourceVersion }, status: change.patch },
      signal,
    });
  };
  try {
    return await retryOnConflict(
      async (conflict) => {
        if (conflict === undefined) return patch(current, undefined);
        const object = await readAgain();
        return object && patch({ ...object.metadata, status: object.status }, object);
      },
      isExclusive ? 1 : maxTries,
    );
  } catch (error) {
    // A 404 is ambiguous, because without the status subresource (an old CRD) the object may still exist.
    if (!isKubeError(error, 404) || (await readAgain()) !== undefined) throw error;
    return undefined;
  }
}

interface StatusChange {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly patch: JsonObject;
}

function diffStatus(
  { status = {}, generation }: KnownStatus,
  update: StatusPatch['update'],
  together: readonly string[],
): StatusChange | undefined {
  const next = update(status, generation);
  if (next === undefined) return undefined;
  const [before, after] = [fieldsOf(status), fieldsOf(next)];
  const patch = diffMergePatch(before, after);
  if (patch === undefined) return undefined;
  const whole = together.some((field) => field in patch) ? Object.fromEntries(together.map((field) => [field, after[field] ?? null])) : {};
  return { before, after, patch: { ...patch, ...whole } };
}

/**
 * The JSON merge patch (RFC 7386) that turns `before` into `after`; undefined if they are equal. Removed keys are null at every depth, because a merge would
 * keep them. Arrays are replaced whole.
 */
export function diffMergePatch(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const patch: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    // In a merge patch, null means absent, so null and absent must not count as different.
    const [old, now] = [before[key] ?? null, after[key] ?? null];
    if (isSameJson(old, now)) continue;
    const change = isObject(old) && isObject(now) ? diffMergePatch(old, now) : now;
    if (change !== undefined) patch[key] = change;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}
