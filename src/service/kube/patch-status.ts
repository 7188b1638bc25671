import type { KubeClient } from './client.ts';
import { fieldManager } from '../../core/model/last-update.ts';
import { isKubeError } from './kube-error.ts';
import { readObject } from './objects.ts';
import { fieldsOf, isObject, isSameJson, type JsonObject } from '../../core/model/untyped.ts';

/** The object as known before the first try; with `uid`, another object of the same name counts as deleted. */
export interface KnownStatus {
  readonly resourceVersion: string;
  readonly status?: unknown;
  readonly generation?: number | undefined;
  readonly uid?: string;
}

export interface StatusPatch {
  readonly client: KubeClient;
  /** Of the object, without `/status`. */
  readonly path: string;
  readonly current: KnownStatus;
  /** The new status, given the current one and the generation of its object; pure, because it is called again after a conflict. Undefined or equal: nothing to write. */
  readonly update: (status: unknown, generation: number | undefined) => object | undefined;
  /** Fields of which all are written where one is: the server may still have the others in an older form. */
  readonly together?: readonly string[];
  /** Awaited before each write, with the status before and after it; must not reject. */
  readonly beforeWrite?: ((before: unknown, after: unknown) => Promise<void>) | undefined;
  /** Whether it is written only as long as the object is exactly the known one: throws the 409 where it has changed. */
  readonly isExclusive?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface RawObject {
  readonly metadata: { readonly resourceVersion: string; readonly uid: string; readonly generation?: number };
  readonly status?: unknown;
}

const maxTries = 20;

/**
 * Writes what `update` changes, guarded by resourceVersion; without a conflict that is one request. Returns the resulting object; undefined if there was nothing
 * to write for the known state, or if the object was deleted. Throws the last 409 after twenty tries: that many jobs and replicas may write at once, and each conflict means that one of them succeeded.
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
  let known = current;
  let object: RawObject | undefined;
  for (let tries = 1; ; tries++) {
    const change = diffStatus(known, update, together);
    if (!change) return object;
    await beforeWrite?.(change.before, change.after);
    try {
      return await client.request({
        method: 'PATCH',
        path: `${path}/status`,
        query: { fieldManager },
        contentType: 'application/merge-patch+json',
        body: { metadata: { resourceVersion: known.resourceVersion }, status: change.patch },
        signal,
      });
    } catch (error) {
      // A 404 is ambiguous: without the status subresource (an old CRD), the object may still exist.
      if (!isKubeError(error, 404) && !isKubeError(error, 409)) throw error;
      if (isExclusive && isKubeError(error, 409)) throw error;
      object = await readObject<RawObject>(client, path, signal);
      if (!object || (current.uid !== undefined && object.metadata.uid !== current.uid)) return undefined;
      if (isKubeError(error, 404) || tries === maxTries) throw error;
      const { resourceVersion, generation } = object.metadata;
      known = { resourceVersion, generation, status: object.status };
    }
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
 * The JSON merge patch (RFC 7386) that turns `before` into `after`, or undefined when they are equal. Removed keys are null at every depth, because a merge
 * would keep them; arrays are replaced whole.
 */
export function diffMergePatch(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const patch: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    // In a merge patch null means absent, so the two must not count as different.
    const [old, now] = [before[key] ?? null, after[key] ?? null];
    if (isSameJson(old, now)) continue;
    const change = isObject(old) && isObject(now) ? diffMergePatch(old, now) : now;
    if (change !== undefined) patch[key] = change;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}
