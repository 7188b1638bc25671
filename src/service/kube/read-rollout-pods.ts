import { defined } from '../../core/model/defined.ts';
import { formatSelector, type LabelSelector } from '../../core/model/label-selector.ts';
import type { OnAnswered } from '../../core/model/server-clock.ts';
import type { PodContainer, PodState } from '../../core/rollout/evaluate-pods.ts';
import { volumeName, type WorkloadRef } from '../../core/model/workload.ts';
import type { KubeClient, KubeRequest } from './client.ts';
import { findTarget } from './targets.ts';
import { listPath, objectPath, readObject } from './objects.ts';
import { readDate } from './server-time.ts';

interface Meta {
  readonly uid?: string;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly ownerReferences?: readonly { readonly uid?: string; readonly controller?: boolean }[];
}

interface RawWorkload {
  readonly metadata: Meta;
  readonly spec?: { readonly selector?: LabelSelector };
  readonly status?: { readonly updateRevision?: string };
}

interface RawContainerStatus {
  readonly name?: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: { readonly waiting?: RawReason; readonly terminated?: RawEnd };
  readonly lastState?: { readonly terminated?: RawEnd };
}

interface RawReason {
  readonly reason?: string;
  readonly message?: string;
}

interface RawEnd extends RawReason {
  readonly exitCode?: number;
}

interface RawContainer {
  readonly name?: string;
  readonly volumeMounts?: readonly { readonly name?: string }[];
}

interface RawPod {
  readonly metadata: Meta;
  readonly spec?: { readonly containers?: readonly RawContainer[]; readonly initContainers?: readonly RawContainer[] };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly startTime?: string;
    readonly conditions?: readonly (RawReason & { readonly type?: string; readonly status?: string })[];
    readonly containerStatuses?: readonly RawContainerStatus[];
    readonly initContainerStatuses?: readonly RawContainerStatus[];
  };
}

/** The number of pods that are read, because a few show the state of all. */
const maxPods = 20;
const maxReplicaSets = 100;

/** Reads some of the pods of a workload's newest revision; none if they are not known yet. Takes two or three requests, so it is used only in a rollout. */
export async function readRolloutPods(
  client: KubeClient,
  ref: WorkloadRef,
  signal?: AbortSignal,
  onAnswered?: OnAnswered,
): Promise<PodState[]> {
  const workload = await readObject<RawWorkload>(client, objectPath(findTarget(ref), ref.namespace, ref.name), signal);
  const selector = formatSelector(workload?.spec?.selector ?? {});
  if (workload === undefined || selector === '') return [];
  const revision = await revisionLabel(client, ref, { ...workload, selector }, signal);
  if (revision === undefined) return [];
  const path = listPath({ apiVersion: 'v1', resource: 'pods' }, ref.namespace);
  const query = { labelSelector: `${selector},${revision}`, limit: maxPods };
  const pods = await list<RawPod>(client, { path, query, signal, ...readDate(onAnswered) });
  return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(toState);
}

/** The label that only pods of the newest revision have; undefined if there is no such revision yet. */
async function revisionLabel(
  client: KubeClient,
  { kind, namespace }: WorkloadRef,
  { metadata, status, selector }: RawWorkload & { readonly selector: string },
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (kind === 'StatefulSet') return status?.updateRevision && `controller-revision-hash=${status.updateRevision}`;
  if (kind === 'DaemonSet') {
    const generation = metadata.annotations?.['deprecated.daemonset.template.generation'];
    return generation && `pod-template-generation=${generation}`;
  }
  if (kind !== 'Deployment') return undefined;
  const path = listPath({ apiVersion: 'apps/v1', resource: 'replicasets' }, namespace);
  const sets = await list<{ metadata: Meta }>(client, { path, query: { labelSelector: selector, limit: maxReplicaSets }, signal });
  const revisionOf = (meta: Meta) => Number(meta.annotations?.['deployment.kubernetes.io/revision'] ?? 0);
  const own = sets.map((set) => set.metadata).filter((set) => set.ownerReferences?.some(({ uid }) => uid === metadata.uid));
  const newest = own.toSorted((a, b) => revisionOf(b) - revisionOf(a))[0];
  const hash = newest?.labels?.['pod-template-hash'];
  return hash && `pod-template-hash=${hash}`;
}

async function list<T>(client: KubeClient, request: Omit<KubeRequest, 'method'>): Promise<readonly T[]> {
  const found = await client.request<{ items?: readonly T[] | null }>({ method: 'GET', ...request });
  return found.items ?? [];
}

function toState({ metadata, spec: { containers = [], initContainers = [] } = {}, status = {} }: RawPod): PodState {
  const { startTime, conditions = [], containerStatuses = [], initContainerStatuses = [] } = status;
  const trouble = troubleOf(status);
  return {
    name: metadata.name ?? '',
    startedAt: startTime ?? metadata.creationTimestamp ?? '',
    ready: conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
    ...defined({ trouble }),
    containers: [...initContainerStatuses, ...containerStatuses].map((container) =>
      toContainer(container, mountsOf([...initContainers, ...containers].find(({ name }) => name === container.name))),
    ),
  };
}

/** The reason why a pod does not run, apart from its containers: the kubelet refused or ended it, it is being evicted, or it is not scheduled. */
function troubleOf({ phase, reason, message, conditions = [] }: NonNullable<RawPod['status']>): PodState['trouble'] {
  const found = (type: string, wanted: string) => conditions.find((one) => one.type === type && one.status === wanted);
  const isPods = reason !== undefined && reason !== '';
  const own = isPods && (phase === 'Failed' || phase === 'Unknown' || reason === 'NodeLost') ? { reason, message } : undefined;
  const trouble = own ?? found('DisruptionTarget', 'True') ?? found('PodScheduled', 'False');
  if (trouble === undefined) return undefined;
  return {
    reason: trouble.reason ?? 'Unknown',
    ...(trouble.message !== undefined && trouble.message !== '' && { message: trouble.message }),
  };
}

function mountsOf({ volumeMounts = [] }: RawContainer = {}): string[] {
  return volumeMounts.flatMap(({ name }) => (name === undefined ? [] : volumeName(name)));
}

function toContainer(
  { name = '', ready = false, restartCount = 0, state, lastState }: RawContainerStatus,
  mounts: readonly string[],
): PodContainer {
  const { reason, message } = state?.waiting ?? {};
  const end = state?.terminated ?? lastState?.terminated;
  return {
    name,
    ready,
    restarts: restartCount,
    ...(mounts.length > 0 && { mounts }),
    ...(reason !== undefined && { waiting: { reason, ...defined({ message }) } }),
    ...(end !== undefined && { lastEnd: toEnd(end) }),
  };
}

function toEnd({ reason = 'Error', exitCode, message }: RawEnd): NonNullable<PodContainer['lastEnd']> {
  return { reason, ...defined({ exitCode, message }) };
}
