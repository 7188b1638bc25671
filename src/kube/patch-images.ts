import { PermanentError } from '../model/errors.ts';
import { formatWorkload, type Workload } from '../model/workload.ts';
import { buildImagePatch, type ImageChange } from './build-image-patch.ts';
import type { KubeClient } from './client.ts';
import { fieldManager } from '../model/last-update.ts';
import { findTarget } from './find-target.ts';
import { KubeError } from './kube-error.ts';
import { projectWorkload } from './project-workload.ts';
import { objectPath } from './resource-path.ts';
import type { TargetKind } from './target-kind.ts';

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
