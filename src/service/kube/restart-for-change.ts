/** Restarts a workload for changes of a ConfigMap that its pods read, once for each change. Its own record says which ones it was restarted for. */
import { describeError, PermanentError } from '../../core/model/errors.ts';
import { isRestartedFor, type HeldChange, type Restart } from '../../core/model/config-map-target.ts';
import { fieldManager } from '../../core/model/last-update.ts';
import { cut } from '../../core/model/text.ts';
import { fieldsOf } from '../../core/model/untyped.ts';
import type { WorkloadRef } from '../../core/model/workload.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { objectPath, readObject } from './objects.ts';
import { restartedAtAnnotation } from './restart-workload.ts';
import { findTarget } from './targets.ts';

/** The annotation of a workload with the changes that it was restarted for: a JSON object, `{"CONFIGMAP/FIELD": "IMAGE TIME"}`. */
const restartedForChanges = 'operator.technomad.dev/restarted-for-changes';
/** Limits for the annotation, which anybody who may write the workload controls. */
const maxChanges = 64;
const maxLength = 65_536;
const maxChangeLength = 700;

/** The changes that a workload was restarted for, from its metadata; undefined if it has no readable record. */
export function readRestartedFor(metadata: { readonly annotations?: unknown }): Readonly<Record<string, string>> | undefined {
  const written = fieldsOf(metadata.annotations)[restartedForChanges];
  if (typeof written !== 'string' || written.length > maxLength) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(written);
  } catch {
    return undefined;
  }
  const texts = Object.entries(fieldsOf(parsed)).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  const bounded = texts.slice(0, maxChanges).map(([key, what]) => [cut(key, maxChangeLength), cut(what, maxChangeLength)] as const);
  return bounded.length === 0 ? undefined : Object.fromEntries(bounded);
}

interface RawWorkload {
  readonly metadata: {
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly creationTimestamp?: string;
    readonly annotations?: unknown;
    readonly deletionTimestamp?: string;
  };
}

/**
 * Restarts a workload unless it was restarted for all these changes, or was created after them. One patch both restarts and records, so a crash at any time leads to
 * exactly one restart. Throws PermanentError(PatchRejected) if the API server refuses it.
 */
export async function restartForChanges(
  client: KubeClient,
  ref: WorkloadRef,
  { changes, at }: { readonly changes: readonly HeldChange[]; readonly at: Date },
  signal: AbortSignal,
): Promise<Restart> {
  const path = objectPath(findTarget(ref), ref.namespace, ref.name);
  try {
    const raw = await readObject<RawWorkload>(client, path, signal);
    if (raw === undefined || raw.metadata.deletionTimestamp !== undefined) return 'gone';
    const { uid, resourceVersion, creationTimestamp = '' } = raw.metadata;
    const before = readRestartedFor(raw.metadata) ?? {};
    if (isRestartedFor(changes, before)) return 'known';
    const isNew = changes.every(({ writtenAt = '' }) => Date.parse(creationTimestamp) > Date.parse(writtenAt));
    const record = Object.fromEntries(
      [...Object.entries(before), ...changes.map(({ key, what }) => [key, what] as const)].slice(-maxChanges),
    );
    const body = {
      // With uid and resourceVersion, the API server refuses the patch of any other state.
      metadata: { uid, resourceVersion, annotations: { [restartedForChanges]: JSON.stringify(record) } },
      ...(!isNew && { spec: { template: { metadata: { annotations: { [restartedAtAnnotation]: at.toISOString() } } } } }),
    };
    await client.request({ method: 'PATCH', path, query: { fieldManager }, contentType: 'application/merge-patch+json', body, signal });
    return isNew ? 'known' : 'restarted';
  } catch (error) {
    if (isKubeError(error, 409) || isKubeError(error, 404)) return 'changed';
    if (isKubeError(error, 403) || isKubeError(error, 422) || isKubeError(error, 400))
      throw new PermanentError('PatchRejected', describeError(error), { cause: error });
    throw error;
  }
}
