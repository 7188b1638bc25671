import type { LastUpdate } from './last-update.ts';

/** What planning needs of a workload: a slim copy, so that ten thousand of them fit in memory. */
export interface Workload extends WorkloadRef {
  readonly apiVersion: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** JSON pointer of the container list, for example `/spec/template/spec/containers`. */
  readonly containersPath: string;
  readonly containers: readonly WorkloadContainer[];
  /** Absent where there are none. */
  readonly initContainers?: readonly WorkloadContainer[];
  /** The image volumes, under the names given by `volumeName`; absent if there are none. */
  readonly volumes?: readonly ImageVolume[];
  /** For custom resources: the values of the fields that policies may write, by path. */
  readonly fields?: Readonly<Record<string, WorkloadField>>;
  /** The records of our last changes to groups of fields that make an image, by the name under which they are shown. */
  readonly fieldUpdates?: ReadonlyMap<string, LastUpdate>;
  /** Absent where there are none. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly hasAnnotations: boolean;
  /** The value of its consent annotation; absent if it has none. */
  readonly allowPoliciesFrom?: string;
  /** The names of its pods' imagePullSecrets; absent if they have none. */
  readonly pullSecrets?: readonly string[];
  /** The service account of its pods; absent if they use the default one. */
  readonly serviceAccount?: string;
  /** Absent for kinds that do not roll out. */
  readonly rollout?: WorkloadRollout;
  /** Whether its rollouts are paused. */
  readonly paused?: boolean;
  /** Whether it is being deleted: it is left alone, as if it did not exist any more. */
  readonly isDeleted?: boolean;
  /** The GitOps tool that manages it, if one is known to. */
  readonly gitOps?: string;
}

export interface WorkloadContainer {
  readonly name: string;
  readonly image: string;
  /** The field manager that owns the image field, from managedFields; undefined if none is recorded. */
  readonly imageOwner?: string;
  /** When that manager last wrote. */
  readonly imageSetAt?: string;
  /** The workload's record of our last change; whether that still holds depends on the other fields. */
  readonly lastUpdate?: LastUpdate;
}

/** A volume whose content is an image; other volumes of a pod template are not kept, so it records its index in their list. */
export interface ImageVolume extends WorkloadContainer {
  readonly index: number;
}

/** A list of a pod template whose entries have images. */
export type ImageList = 'containers' | 'initContainers' | 'volumes';

/** The location of an image in a pod template; without `list` it is one of the containers. */
export interface ImagePosition {
  readonly index: number;
  readonly list?: ImageList;
}

/** A field of a custom resource: `value` is null if it is not set, but may be. */
export type WorkloadField =
  | { readonly value: string | number | null; readonly owner?: string; readonly setAt?: string }
  | { readonly unusable: 'ParentMissing' | 'NotText' };

/** A kind of object. */
export interface KindRef {
  /** Only for custom resources, where the kind alone is ambiguous. */
  readonly apiVersion?: string;
  readonly kind: string;
}

/** Names a namespaced object by kind, as policies and Events do. */
export interface WorkloadRef extends KindRef {
  readonly namespace: string;
  readonly name: string;
}

/** Whether an API version belongs to a custom resource: their groups are domains, those of built-in workloads are plain words. */
export function isCustomVersion(apiVersion: string | undefined): apiVersion is string {
  return apiVersion !== undefined && /^[^/]*\..*\//.test(apiVersion);
}

const volumePrefix = 'volumes/';

/** The name of an image volume among containers, because a container of the same pod may have the same name: `volumes/models`. */
export function volumeName(name: string): string {
  return volumePrefix + name;
}

/** The volume's own name; undefined for the name of a container, which has no slash. */
export function readVolumeName(container: string): string | undefined {
  return container.startsWith(volumePrefix) ? container.slice(volumePrefix.length) : undefined;
}

/** Everything in a pod template that has an image, and where: containers, init containers, image volumes. Their names are unique. */
export function imagesOf({ containers, initContainers = [], volumes = [] }: Pick<Workload, 'containers' | 'initContainers' | 'volumes'>): {
  readonly container: WorkloadContainer;
  readonly position: ImagePosition;
}[] {
  return [
    ...containers.map((container, index) => ({ container, position: { index } })),
    ...initContainers.map((container, index) => ({ container, position: { index, list: 'initContainers' as const } })),
    ...volumes.map((container) => ({ container, position: { index: container.index, list: 'volumes' as const } })),
  ];
}

/** Finds a container, an init container or an image volume: their names are unique. */
export function findContainer({ containers, initContainers = [], volumes = [] }: Workload, name: string): WorkloadContainer | undefined {
  return [...containers, ...initContainers, ...volumes].find((container) => container.name === name);
}

/** The reference of a workload without its other fields. */
export function refOf({ apiVersion, kind, namespace, name }: WorkloadRef): WorkloadRef {
  return { ...(isCustomVersion(apiVersion) && { apiVersion }), kind, namespace, name };
}

/** The reference of a workload and its uid, if known. */
export function identityOf(workload: WorkloadIdentity): WorkloadIdentity {
  return { ...refOf(workload), ...(workload.uid !== undefined && { uid: workload.uid }) };
}

/** `Deployment shop/web`: for messages. */
export function formatWorkload(ref: WorkloadRef): string {
  return `${ref.kind} ${ref.namespace}/${ref.name}`;
}

/** `Deployment`, or `argoproj.io/v1alpha1/Rollout`: a map key. */
export function kindKey({ apiVersion, kind }: KindRef): string {
  return isCustomVersion(apiVersion) ? `${apiVersion}/${kind}` : kind;
}

/** `Deployment/shop/web`, or `argoproj.io/v1alpha1/Rollout/shop/web`: a map key. */
export function workloadKey(ref: WorkloadRef): string {
  return `${kindKey(ref)}/${ref.namespace}/${ref.name}`;
}

/** Identifies one object, if its uid is known: an object that was deleted and created again under the same name is another one. */
export interface WorkloadIdentity extends WorkloadRef {
  readonly uid?: string;
}

/** Whether both are the same object, as far as their uids are known. */
export function isSameObject(a: WorkloadIdentity, b: WorkloadIdentity): boolean {
  return isSameWorkload(a, b) && (a.uid === undefined || b.uid === undefined || a.uid === b.uid);
}

/** Whether both have the same kind, namespace and name. */
export function isSameWorkload(a: WorkloadRef, b: WorkloadRef): boolean {
  return a.name === b.name && a.namespace === b.namespace && kindKey(a) === kindKey(b);
}

/** One image of a workload that is to be replaced. */
export interface ContainerChange extends ImagePosition {
  /** Its name, for an image volume `volumes/NAME`; for fields of a custom resource, the path of the one that holds the tag or the image. */
  readonly container: string;
  readonly from: string;
  readonly to: string;
  /** For a custom resource: all fields that make the image. */
  readonly fields?: readonly FieldChange[];
  /** The record of the change to write to the workload's annotation. */
  readonly update?: LastUpdate;
}

/** A field that is not set has the value null; one without `to` is not changed, but the patch tests its value. */
export interface FieldChange {
  readonly path: string;
  readonly from: string | number | null;
  readonly to?: string;
}

/** The progress of a workload's newest revision, as its controller reports it: the same numbers for all kinds that roll out. */
export interface WorkloadRollout {
  /** The generation that the numbers describe. */
  readonly observedGeneration: number;
  /** How many pods it should have. */
  readonly wanted: number;
  /** How many of them should be of the newest revision: fewer than `wanted` with a partition. */
  readonly toUpdate: number;
  /** Pods of the newest revision. */
  readonly updated: number;
  readonly available: number;
  /** Pods of older revisions that still have to be removed. */
  readonly outdated: number;
  /** The controller observed the newest revision complete once: a later failure is not a failed rollout. */
  readonly wasComplete: boolean;
  /** The controller reports that the newest revision was never complete; absent if it was, or if the controller does not report it. */
  readonly isIncomplete?: boolean;
  /** Why the controller cannot create pods, for a reason unrelated to the image. */
  readonly cannotCreate?: string;
  /** How an admission webhook or policy denies its pods. */
  readonly denied?: string;
  /** The controller's message when it has given up; it may refer to an older revision. */
  readonly deadlineExceeded?: { readonly message: string; readonly at: string };
  /** Why nothing rolls out automatically. */
  readonly haltedBecause?: string;
  /** When it resumed, if it was paused or had stopped. */
  readonly resumedAt?: string;
}

/** Whether resourceVersion `a` is later than `b`. Since Kubernetes 1.35 they are comparable numbers for all built-in APIs; anything else: whether they differ. */
export function isNewer(a: string, b: string): boolean {
  if (!/^\d+$/.test(a) || !/^\d+$/.test(b)) return a !== b;
  // Nearly all are exact as numbers, which are ten times as fast.
  return a.length < 16 && b.length < 16 ? Number(a) > Number(b) : BigInt(a) > BigInt(b);
}
