/** Restarts the pods of a workload, as `kubectl rollout restart` does, and reads which images its pods run. */
import { defined } from '../../core/model/defined.ts';
import { formatSelector, type LabelSelector } from '../../core/model/label-selector.ts';
import { describeError, PermanentError } from '../../core/model/errors.ts';
import { isDigest } from '../../core/model/image-reference.ts';
import { fieldManager } from '../../core/model/last-update.ts';
import type { WorkloadRef } from '../../core/model/workload.ts';
import { consentAnnotation } from '../../core/model/consent-annotation.ts';
import type { RunningPods } from '../../core/rollout/running-pods.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { listPath, objectPath, readObject } from './objects.ts';
import { projectRollout } from './project-rollout.ts';
import { findTarget } from './targets.ts';

/** An annotation of a workload that we restarted: the digests that its pods were restarted for, the latest first. */
export const restartedForAnnotation = 'operator.technomad.dev/restarted-for';
/** The annotation of the pod template with the time of the restart, which kubectl sets as well. */
export const restartedAtAnnotation = 'kubectl.kubernetes.io/restartedAt';

interface Meta {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
}
interface RawContainer {
  readonly name?: string;
  readonly imagePullPolicy?: string;
}
interface RawWorkload {
  readonly metadata: Meta;
  readonly spec?: {
    readonly selector?: LabelSelector;
    readonly template?: {
      readonly metadata?: Meta;
      readonly spec?: { readonly containers?: readonly RawContainer[]; readonly initContainers?: readonly RawContainer[] };
    };
  };
}
interface RawPod {
  readonly metadata: Meta;
  readonly status?: {
    readonly phase?: string;
    readonly containerStatuses?: readonly RawStatus[];
    readonly initContainerStatuses?: readonly RawStatus[];
  };
}
interface RawStatus {
  readonly name?: string;
  readonly imageID?: string;
}

const maxPods = 200;
/** The limit for the recorded digests: a workload may have several images, and several policies. */
const maxRestartedFor = 10;

/** Reads a workload and its pods; undefined if it is gone or being deleted, or has no pods of its own, as a CronJob. Throws PermanentError if they may not be read. */
export async function readRunningPods(client: KubeClient, ref: WorkloadRef, signal: AbortSignal): Promise<RunningPods | undefined> {
  try {
    return await readPods(client, ref, signal);
  } catch (error) {
    if (isKubeError(error, 403)) throw new PermanentError('TargetKindForbidden', describeError(error));
    throw error;
  }
}

async function readPods(client: KubeClient, ref: WorkloadRef, signal: AbortSignal): Promise<RunningPods | undefined> {
  const workload = await readObject<RawWorkload>(client, objectPath(findTarget(ref), ref.namespace, ref.name), signal);
  const { selector, template } = workload?.spec ?? {};
  const labelSelector = formatSelector(selector ?? {});
  if (workload === undefined || template === undefined || labelSelector === '') return undefined;
  const { metadata } = workload;
  if (metadata.deletionTimestamp !== undefined) return undefined;
  const found = await client.request<{ items?: readonly RawPod[] | null }>({
    method: 'GET',
    path: listPath({ apiVersion: 'v1', resource: 'pods' }, ref.namespace),
    query: { labelSelector, limit: maxPods },
    signal,
  });
  const pods = (found.items ?? []).filter(isRunning);
  const digests = new Map<string, Set<string>>();
  for (const { name = '', imageID = '' } of pods.flatMap(statusesOf)) {
    const digest = /sha256:[0-9a-f]{64}$/.exec(imageID)?.[0];
    if (digest !== undefined) digests.set(name, (digests.get(name) ?? new Set()).add(digest));
  }
  const containers = [...(template.spec?.containers ?? []), ...(template.spec?.initContainers ?? [])];
  const { [restartedForAnnotation]: restartedFor = '', [consentAnnotation]: allowPoliciesFrom } = metadata.annotations ?? {};
  const rollout = projectRollout(ref.kind, workload);
  const restartedAt = template.metadata?.annotations?.[restartedAtAnnotation];
  return {
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation: metadata.generation ?? 0,
    ...defined({ labels: metadata.labels, rollout, allowPoliciesFrom }),
    restartedFor: restartedFor.split(',', maxRestartedFor).filter(isDigest),
    ...defined({ restartedAt }),
    pullsAlways: containers.flatMap(({ name = '', imagePullPolicy }) => (imagePullPolicy === 'Always' ? [name] : [])),
    digests,
  };
}

function isRunning({ metadata, status }: RawPod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}

function statusesOf({ status }: RawPod): readonly RawStatus[] {
  return [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
}

/** Restarts the workload as it was read, by one patch that also records the digests. Returns false if it has changed since it was read, or is gone. */
export async function restartWorkload(
  client: KubeClient,
  ref: WorkloadRef,
  { uid, resourceVersion, restartedFor, at }: Pick<RunningPods, 'uid' | 'resourceVersion' | 'restartedFor'> & { readonly at: Date },
  signal: AbortSignal,
): Promise<boolean> {
  const digests = [...new Set(restartedFor)].slice(0, maxRestartedFor).join(',');
  const body = {
    // With uid and resourceVersion, the API server refuses the patch of any other state.
    metadata: { uid, resourceVersion, annotations: { [restartedForAnnotation]: digests } },
    spec: { template: { metadata: { annotations: { [restartedAtAnnotation]: at.toISOString() } } } },
  };
  try {
    await client.request({
      method: 'PATCH',
      path: objectPath(findTarget(ref), ref.namespace, ref.name),
      query: { fieldManager },
      contentType: 'application/merge-patch+json',
      body,
      signal,
    });
    return true;
  } catch (error) {
    if (isKubeError(error, 409) || isKubeError(error, 404)) return false;
    // The restart was refused by an admission webhook or policy, or because of missing permissions.
    if (isKubeError(error, 403) || isKubeError(error, 422) || isKubeError(error, 400))
      throw new PermanentError('PatchRejected', describeError(error));
    throw error;
  }
}
