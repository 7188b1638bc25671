import type { RestartedWorkload } from './config-map-target.ts';
import { defined } from './defined.ts';
import type { Installation } from './installation.ts';
import type { LastUpdate } from './last-update.ts';

/** The parts of a workload that planning needs. It is small, so that ten thousand of them fit in memory. */
export interface Workload extends WorkloadRef {
  readonly apiVersion: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** JSON pointer of the container list, for example `/spec/template/spec/containers`. */
  readonly containersPath: string;
  readonly containers: readonly WorkloadContainer[];
  /** The init containers; absent if there are none. */
  readonly initContainers?: readonly WorkloadContainer[];
  /** The image volumes, under the names given by `volumeName`; absent if there are none. */
  readonly volumes?: readonly ImageVolume[];
  /** The values of the fields of a custom resource that policies may write, by path. */
  readonly fields?: Readonly<Record<string, WorkloadField>>;
  /** The records of our last changes to groups of fields that make an image, by the name under which they are shown. */
  readonly fieldUpdates?: ReadonlyMap<string, LastUpdate>;
  /** The labels of the workload; absent if there are none. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly hasAnnotations: boolean;
  /** The value of the consent annotation; absent if there is none. */
  readonly allowPoliciesFrom?: string;
  /** The names of the imagePullSecrets of the pods; absent if there are none. */
  readonly pullSecrets?: readonly string[];
  /** The service account of the pods; absent for the default one. */
  readonly serviceAccount?: string;
  /** The progress of its rollout; absent for kinds that do not roll out. */
  readonly rollout?: WorkloadRollout;
  /** How the chart in its fields is installed; absent for kinds whose controller does not report that. */
  readonly installation?: Installation;
  /** The workloads that are restarted after a change, in the same namespace; only for ConfigMaps. */
  readonly restarts?: readonly RestartedWorkload[];
  /** The changes of ConfigMaps that it was restarted for, by `HeldChange.key`; absent if there are none. */
  readonly restartedFor?: Readonly<Record<string, string>>;
  /** Whether the rollouts of the workload are paused. */
  readonly paused?: boolean;
  /** Whether the workload is being deleted. It is then treated as if it did not exist. */
  readonly isDeleted?: boolean;
  /** The GitOps tool that manages the workload, if one is known. */
  readonly gitOps?: string;
}

export interface WorkloadContainer {
  readonly name: string;
  readonly image: string;
  /** The field manager that owns the image field, from managedFields; undefined if none is recorded. */
  readonly imageOwner?: string;
  /** When the owner of the image field last wrote. */
  readonly imageSetAt?: string;
  /** The workload's record of our last change. Other fields decide whether it is still valid. */
  readonly lastUpdate?: LastUpdate;
}

/** A volume whose content is an image. It has its index in the list of volumes, because other volumes of a pod template are not kept. */
export interface ImageVolume extends WorkloadContainer {
  readonly index: number;
}

/** A list of a pod template whose entries have images. */
export type ImageList = 'containers' | 'initContainers' | 'volumes';

/** The location of an image in a pod template. Without `list` it is in the containers. */
export interface ImagePosition {
  readonly index: number;
  readonly list?: ImageList;
}

/** A field of a custom resource. `value` is null if the field is not set, but may be. */
export type WorkloadField =
  | { readonly value: string | number | null; readonly owner?: string; readonly setAt?: string }
  | { readonly unusable: 'ParentMissing' | 'NotText' };

/** A kind of object. */
export interface KindRef {
  /** The API version. It is only present for custom resources, where the kind alone is ambiguous. */
  readonly apiVersion?: string;
  readonly kind: string;
}

/** The name and kind of a namespaced object, as in policies and Events. */
export interface WorkloadRef extends KindRef {
  readonly namespace: string;
  readonly name: string;
}

/** Whether an API version belongs to a custom resource. The groups of custom resources are domains, and those of built-in workloads are plain words. */
export function isCustomVersion(apiVersion: string | undefined): apiVersion is string {
  return apiVersion !== undefined && /^[^/]*\..*\//.test(apiVersion);
}

const volumePrefix = 'volumes/';

/** The name of an image volume in a list of containers: `volumes/models`. It has a prefix, because a container of the same pod may have the same name. */
export function volumeName(name: string): string {
  return volumePrefix + name;
}

/** The name of an image volume without its prefix; undefined for the name of a container, which has no slash. */
export function readVolumeName(container: string): string | undefined {
  return container.startsWith(volumePrefix) ? container.slice(volumePrefix.length) : undefined;
}

/** All images in a pod template with their positions: containers, init containers, image volumes. Their names are unique. */
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

/** Finds a container, an init container or an image volume by its name, which is unique. */
export function findContainer({ containers, initContainers = [], volumes = [] }: Workload, name: string): WorkloadContainer | undefined {
  return [...containers, ...initContainers, ...volumes].find((container) => container.name === name);
}

/** Whether something reports how a change of the workload is carried out. */
export function rollsOut({ rollout, installation, restarts }: Workload): boolean {
  return (rollout ?? installation ?? restarts) !== undefined;
}

/** The reference of a workload without its other fields. */
export function refOf({ apiVersion, kind, namespace, name }: WorkloadRef): WorkloadRef {
  return { ...(isCustomVersion(apiVersion) && { apiVersion }), kind, namespace, name };
}

/** The reference of a workload and its uid, if known. */
export function identityOf(workload: WorkloadIdentity): WorkloadIdentity {
  return { ...refOf(workload), ...defined({ uid: workload.uid }) };
}

/** The name of a workload for messages: `Deployment shop/web`. */
export function formatWorkload(ref: WorkloadRef): string {
  return `${ref.kind} ${ref.namespace}/${ref.name}`;
}

/** The map key of a kind: `Deployment`, or `argoproj.io/v1alpha1/Rollout`. */
export function kindKey({ apiVersion, kind }: KindRef): string {
  return isCustomVersion(apiVersion) ? `${apiVersion}/${kind}` : kind;
}

/** The map key of a workload: `Deployment/shop/web`, or `argoproj.io/v1alpha1/Rollout/shop/web`. */
export function workloadKey(ref: WorkloadRef): string {
  return `${kindKey(ref)}/${ref.namespace}/${ref.name}`;
}

/** The identity of an object, if its uid is known. An object that was deleted and created again under the same name has another identity. */
export interface WorkloadIdentity extends WorkloadRef {
  readonly uid?: string;
}

/** Whether two references are to the same object, as far as their uids are known. */
export function isSameObject(a: WorkloadIdentity, b: WorkloadIdentity): boolean {
  return isSameWorkload(a, b) && (a.uid === undefined || b.uid === undefined || a.uid === b.uid);
}

/** Whether two references have the same kind, namespace and name. */
export function isSameWorkload(a: WorkloadRef, b: WorkloadRef): boolean {
  return a.name === b.name && a.namespace === b.namespace && kindKey(a) === kindKey(b);
}

/** One image of a workload that is to be replaced. */
export interface ContainerChange extends ImagePosition {
  /** The name of the container; `volumes/NAME` for an image volume; for fields of a custom resource, the path of the field with the tag or the image. */
  readonly container: string;
  readonly from: string;
  readonly to: string;
  /** All fields of a custom resource that make the image. */
  readonly fields?: readonly FieldChange[];
  /** The images of companions that are replaced with it, in the same patch. Guards decide about all of them as one change. */
  readonly alongside?: readonly CompanionChange[];
  /** The record of the change to write to the workload's annotation. */
  readonly update?: LastUpdate;
  /** The object from which the URL of a chart was read, in the state in which it was read. */
  readonly source?: WorkloadRef & Pick<Workload, 'uid' | 'generation'>;
}

/** The image of a companion that is replaced with another image of the workload. */
export interface CompanionChange extends ImagePosition {
  readonly container: string;
  readonly from: string;
  readonly to: string;
}

/** The change of a field. A field that is not set has the value null. A field without `to` is not changed, but the patch tests its value. */
export interface FieldChange {
  readonly path: string;
  readonly from: string | number | null;
  readonly to?: string;
}

/** The progress of a workload's newest revision, as its controller reports it. The numbers are the same for all kinds that roll out. */
export interface WorkloadRollout {
  /** The generation that the numbers describe. */
  readonly observedGeneration: number;
  /** How many pods the workload should have. */
  readonly wanted: number;
  /** How many pods should be of the newest revision: fewer than `wanted` with a partition. */
  readonly toUpdate: number;
  /** How many pods are of the newest revision. */
  readonly updated: number;
  readonly available: number;
  /** Pods of older revisions that still have to be removed. */
  readonly outdated: number;
  /** Whether the controller once observed the newest revision complete. A later failure is not a failed rollout. */
  readonly wasComplete: boolean;
  /** Whether the controller reports that the newest revision was never complete; absent if it was, or if the controller does not report it. */
  readonly isIncomplete?: boolean;
  /** Why the controller cannot create pods, for a reason unrelated to the image. */
  readonly cannotCreate?: string;
  /** The message with which an admission webhook or policy denies the pods. */
  readonly denied?: string;
  /** The controller's message that it has given up. It may refer to an older revision. */
  readonly deadlineExceeded?: { readonly message: string; readonly at: string };
  /** Why the controller of the workload rolls nothing out automatically. */
  readonly haltedBecause?: string;
  /** Since when its newest revision is complete and enough pods are available, if they are: what the controller says, or else the last change of the status. Absent if neither is known. */
  readonly availableSince?: string;
  /** When the rollout resumed, if it was paused or had stopped. */
  readonly resumedAt?: string;
}

/** Whether resourceVersion `a` is later than `b`. Since Kubernetes 1.35, those of built-in APIs are comparable numbers. For others: whether they differ. */
export function isNewer(a: string, b: string): boolean {
  if (!/^\d+$/.test(a) || !/^\d+$/.test(b)) return a !== b;
  // Nearly all versions are exact as numbers, whose comparison is ten times as fast.
  return a.length < 16 && b.length < 16 ? Number(a) > Number(b) : BigInt(a) > BigInt(b);
}
