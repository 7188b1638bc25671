import { PermanentError } from '../model/errors.ts';
import { type ContainerChange, type FieldChange, formatWorkload, readVolumeName, type Workload } from '../model/workload.ts';
import type { KubeClient } from './client.ts';
import { fieldManager, formatLastUpdate, updateAnnotation } from '../model/last-update.ts';
import { findTarget, type TargetKind } from './targets.ts';
import { KubeError } from './kube-error.ts';
import { projectWorkload } from './project-workload.ts';
import { objectPath } from './objects.ts';
import { consentAnnotation } from '../plan/consent.ts';
import { parseFieldPath } from '../model/field-path.ts';

/**
 * `patched`: the workload as the server answered it (admission may have rewritten the image).
 * `conflict`: it is not what the plan was made for any more, or gone: read it again and plan again.
 */
export type PatchResult = { readonly kind: 'patched'; readonly workload: Workload } | { readonly kind: 'conflict' };

/**
 * Applies all image changes of a workload in one request, or none. Throws PermanentError(PatchRejected) when the server refuses the change itself (400, 403,
 * 422 with causes); everything else that is thrown may be tried again, after `KubeError.retryAfterMs` where there is one.
 */
export async function patchImages(
  client: KubeClient,
  workload: Workload,
  changes: readonly ImageChange[],
  changeCause: string,
  signal?: AbortSignal,
  target: TargetKind = findTarget(workload),
): Promise<PatchResult> {
  try {
    const raw = await client.request({
      method: 'PATCH',
      path: objectPath(target, workload.namespace, workload.name),
      query: { fieldManager },
      contentType: 'application/json-patch+json',
      body: buildImagePatch(workload, changes, changeCause),
      signal,
    });
    return { kind: 'patched', workload: projectWorkload(target, raw) };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (isConflict(error)) return { kind: 'conflict' };
    const refusal = explainRefusal(error, target.resource);
    if (refusal === undefined) throw error;
    throw new PermanentError('PatchRejected', `${formatWorkload(workload)}: ${refusal}`, { cause: error });
  }
}

/** A failed `test`, a missing index and a missing path are all answered with 422 and no causes; only a refused value has causes. */
function isConflict({ status, causes }: KubeError): boolean {
  return status === 409 || status === 404 || (status === 422 && causes.length === 0);
}

function explainRefusal({ status, detail }: KubeError, resource: string): string | undefined {
  if (status === 422 || status === 400) return `the API server refuses the change: ${detail}`;
  if (status !== 403) return undefined;
  // Admission webhooks and policies answer 403 too: only RBAC's own words mean a missing permission.
  const isMissingPermission = / cannot patch resource /.test(detail);
  return isMissingPermission
    ? `not permitted: grant image-watcher the verb "patch" on "${resource}": ${detail}`
    : `refused by the cluster's policies: ${detail}`;
}

/** One container's new image; `index` is its place in its list of the workload. */
export type ImageChange = ContainerChange;

/** One operation of a JSON Patch (RFC 6902). */
export interface PatchOperation {
  readonly op: 'test' | 'replace' | 'add';
  readonly path: string;
  readonly value: unknown;
}

const changeCauseAnnotation = 'kubernetes.io/change-cause';

/**
 * The smallest patch for all changes of a workload. It applies only while each container is still where it was and still has its old image:
 *
 *     test    …/containers/0/name    web                     for each change
 *     test    …/containers/0/image   shop/web:1.4.1
 *     replace …/containers/0/image   shop/web:1.4.2          of a volume: …/volumes/0/name, …/volumes/0/image/reference
 *     test    …/annotations/…~1allow-policies-from null      the answer of its owners is still the one that was judged
 *     add     …/annotations/kubernetes.io~1change-cause      or, where there are no annotations: test null, add {…}
 *     add     …/annotations/last-update.…~1web               where the workload is to remember the change
 *
 * Of a custom resource's fields each is tested, also those that stay: test …/tag 1.4.1, replace …/tag 1.4.2; what is not set yet: test null, add.
 */
export function buildImagePatch(
  workload: Pick<Workload, 'containersPath' | 'hasAnnotations' | 'allowPoliciesFrom'>,
  changes: readonly ImageChange[],
  changeCause: string,
): PatchOperation[] {
  const images = changes.flatMap((change) =>
    change.fields === undefined ? ofContainer(workload, change) : change.fields.flatMap(ofField),
  );
  const updates = changes.flatMap(({ container, update }) => {
    const key = updateAnnotation(container);
    return key === undefined || update === undefined ? [] : [[key, formatLastUpdate(update)]];
  });
  return [...images, ...annotate(workload, { [changeCauseAnnotation]: changeCause, ...Object.fromEntries(updates) })];
}

function ofContainer(
  { containersPath }: Pick<Workload, 'containersPath'>,
  { container, index, list = 'containers', from, to }: ImageChange,
): PatchOperation[] {
  const path = `${containersPath.replace(/containers$/, list)}/${index}`;
  const image = list === 'volumes' ? `${path}/image/reference` : `${path}/image`;
  return [
    { op: 'test', path: `${path}/name`, value: list === 'volumes' ? readVolumeName(container) : container },
    { op: 'test', path: image, value: from },
    { op: 'replace', path: image, value: to },
  ];
}

function ofField({ path, from, to }: FieldChange): PatchOperation[] {
  const pointer = `/${parseFieldPath(path)
    .map((step) => escapePointer(String(step)))
    .join('/')}`;
  const test: PatchOperation = { op: 'test', path: pointer, value: from };
  return to === undefined ? [test] : [test, { op: from === null ? 'add' : 'replace', path: pointer, value: to }];
}

function annotate(
  { hasAnnotations, allowPoliciesFrom }: Pick<Workload, 'hasAnnotations' | 'allowPoliciesFrom'>,
  annotations: Readonly<Record<string, string>>,
): PatchOperation[] {
  if (hasAnnotations)
    return [
      { op: 'test', path: pathOf(consentAnnotation), value: allowPoliciesFrom ?? null },
      ...Object.entries(annotations).map(([key, value]): PatchOperation => ({ op: 'add', path: pathOf(key), value })),
    ];
  // Without the test, annotations that somebody added meanwhile would be lost, and an answer of its owners not be heard.
  return [
    { op: 'test', path: '/metadata/annotations', value: null },
    { op: 'add', path: '/metadata/annotations', value: annotations },
  ];
}

function pathOf(annotation: string): string {
  return `/metadata/annotations/${escapePointer(annotation)}`;
}

/** RFC 6901 §3. */
function escapePointer(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
