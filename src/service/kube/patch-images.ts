import { confirmedForMs, type Confirm } from '../../core/model/confirmation.ts';
import { PermanentError } from '../../core/model/errors.ts';
import {
  type CompanionChange,
  type ContainerChange,
  type FieldChange,
  formatWorkload,
  readVolumeName,
  type Workload,
} from '../../core/model/workload.ts';
import type { KubeClient, KubeRequest } from './client.ts';
import { fieldManager } from '../../core/model/last-update.ts';
import { formatLastUpdate, updateAnnotation } from '../../core/model/last-update-annotation.ts';
import { findTarget, type TargetKind } from './targets.ts';
import { KubeError } from './kube-error.ts';
import { projectWorkload } from './project-workload.ts';
import { objectPath } from './objects.ts';
import { retryTransient } from './retry.ts';
import { consentAnnotation } from '../../core/model/consent-annotation.ts';
import { parseFieldPath } from '../../core/model/field-path.ts';

export interface PatchOptions extends Pick<KubeRequest, 'signal' | 'sendBefore'> {
  /** The cause for the annotation `kubernetes.io/change-cause`. */
  readonly changeCause: string;
  /** The kind of the workload; needed only for custom resources. */
  readonly target?: TargetKind;
  /** Whether the API server only checks the change, with permissions and admission, and stores nothing. */
  readonly isTrial?: boolean;
}

/**
 * `patched`: the workload as the API server returned it (admission may have rewritten the image). `conflict`: the workload has changed since the plan was made,
 * or was deleted; read it and plan again.
 */
export type PatchResult = { readonly kind: 'patched'; readonly workload: Workload } | { readonly kind: 'conflict' };

/**
 * Applies all image changes of a planned workload in one request, or none. Throws PermanentError(PatchRejected) if the API server refuses the change itself
 * (400, 403, 422 with causes). Any other error may be retried, after `KubeError.retryAfterMs` if it is set.
 */
export async function patchImages(
  client: KubeClient,
  workload: Workload,
  changes: readonly ContainerChange[],
  { changeCause, signal, sendBefore, isTrial = false, target = findTarget(workload) }: PatchOptions,
): Promise<PatchResult> {
  try {
    const raw = await client.request({
      method: 'PATCH',
      path: objectPath(target, workload.namespace, workload.name),
      query: { fieldManager, ...(isTrial && { dryRun: 'All' }) },
      contentType: 'application/json-patch+json',
      body: buildImagePatch(workload, changes, changeCause),
      signal,
      sendBefore,
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

/**
 * Applies the changes like `patchImages`, and repeats that while the API server is busy. Calls `confirm` before each try. `outdated`: `confirm` returned undefined,
 * so nothing was sent.
 */
export function patchConfirmed(
  client: KubeClient,
  workload: Workload,
  changes: readonly ContainerChange[],
  { confirm, signal, ...options }: Omit<PatchOptions, 'sendBefore'> & { readonly confirm: Confirm; readonly signal: AbortSignal },
): Promise<PatchResult | { readonly kind: 'outdated' }> {
  const patch = async () => {
    const confirmedAt = await confirm();
    if (confirmedAt === undefined) return { kind: 'outdated' } as const;
    return patchImages(client, workload, changes, { ...options, signal, sendBefore: confirmedAt + confirmedForMs });
  };
  return retryTransient(patch, { signal, random: Math.random, now: Date.now });
}

/** Whether an error is a conflict. A failed `test` and missing indexes or paths are answered with 422 and no causes; only a refused value has causes. */
function isConflict({ status, causes }: KubeError): boolean {
  return status === 409 || status === 404 || (status === 422 && causes.length === 0);
}

function explainRefusal({ status, detail }: KubeError, resource: string): string | undefined {
  if (status === 422 || status === 400) return `the API server refuses the change: ${detail}`;
  if (status !== 403) return undefined;
  // Admission webhooks and policies answer 403, too, so only the wording of RBAC proves a missing permission.
  const isMissingPermission = / cannot patch resource /.test(detail);
  return isMissingPermission
    ? `not permitted: grant image-watcher the verb "patch" on "${resource}": ${detail}`
    : `refused by the cluster's policies: ${detail}`;
}

/** One operation of a JSON Patch (RFC 6902). */
export interface PatchOperation {
  readonly op: 'test' | 'replace' | 'add';
  readonly path: string;
  readonly value: unknown;
}

const changeCauseAnnotation = 'kubernetes.io/change-cause';

type PatchedWorkload = Pick<
  Workload,
  'uid' | 'generation' | 'resourceVersion' | 'labels' | 'containersPath' | 'hasAnnotations' | 'allowPoliciesFrom'
>;

/**
 * The smallest patch for all changes of a workload. It applies only to the object and the state that it was planned for, in which each container still has its
 * position and its old image:
 *
 *     test    /metadata/uid          5c2f…                   not another one of the same name
 *     test    /metadata/generation   7                       as it counts changes of the spec; of an object without one: /metadata/resourceVersion
 *     test    /metadata/labels       {"app": "web"}          what selectors and canaries go by, which has no generation
 *     test    …/containers/0/name    web                     for each change
 *     test    …/containers/0/image   shop/web:1.4.1
 *     replace …/containers/0/image   shop/web:1.4.2          of a volume: …/volumes/0/name, …/volumes/0/image/reference
 *     test    …/annotations/…~1allow-policies-from null      the consent of its owners is still the one that was evaluated
 *     add     …/annotations/kubernetes.io~1change-cause      or, where there are no annotations: test null, add {…}
 *     test, replace …                                        for each companion that is changed with the image
 *     add     …/annotations/last-update.…~1web               where the workload records the change
 *
 * Of a custom resource, all fields of the image are tested, also unchanged ones: test …/tag 1.4.1, replace …/tag 1.4.2; fields that are not set: test null, add.
 */
export function buildImagePatch(workload: PatchedWorkload, changes: readonly ContainerChange[], changeCause: string): PatchOperation[] {
  const images = changes.flatMap((change) =>
    change.fields === undefined
      ? [change, ...(change.alongside ?? [])].flatMap((one) => ofContainer(workload, one))
      : change.fields.flatMap(ofField),
  );
  const updates = changes.flatMap(({ container, update }) => {
    const key = updateAnnotation(container);
    return key === undefined || update === undefined ? [] : [[key, formatLastUpdate(update)]];
  });
  return [
    ...testState(workload),
    ...images,
    ...annotate(workload, { [changeCauseAnnotation]: changeCause, ...Object.fromEntries(updates) }),
  ];
}

function testState({ uid, generation, resourceVersion, labels }: PatchedWorkload): PatchOperation[] {
  const isCounted = generation > 0;
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    isCounted
      ? { op: 'test', path: '/metadata/generation', value: generation }
      : { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'test', path: '/metadata/labels', value: labels ?? null },
  ];
}

function ofContainer(
  { containersPath }: Pick<Workload, 'containersPath'>,
  { container, index, list = 'containers', from, to }: CompanionChange,
): PatchOperation[] {
  const path = `${containersPath.replace(/containers$/, list)}/${index}`;
  const image = list === 'volumes' ? `${path}/image/reference` : `${path}/image`;
  return [
    { op: 'test', path: `${path}/name`, value: list === 'volumes' ? readVolumeName(container) : container },
    { op: 'test', path: image, value: from },
    ...(from === to ? [] : [{ op: 'replace' as const, path: image, value: to }]),
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
  // Without the test, annotations that were added since would be lost, the consent of the owners among them.
  return [
    { op: 'test', path: '/metadata/annotations', value: null },
    { op: 'add', path: '/metadata/annotations', value: annotations },
  ];
}

function pathOf(annotation: string): string {
  return `/metadata/annotations/${escapePointer(annotation)}`;
}

/** Escapes a segment of a JSON Pointer (RFC 6901 §3). */
function escapePointer(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
