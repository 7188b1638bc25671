import type { LastUpdate } from './last-update.ts';
import type { WorkloadRollout } from './workload-rollout.ts';

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
  /** The volumes that are images, by the names of `volumeName`; absent where there are none. */
  readonly volumes?: readonly ImageVolume[];
  /** Of a custom resource: what the fields hold that policies may write, by their paths. */
  readonly fields?: Readonly<Record<string, WorkloadField>>;
  /** What it remembers of our last change of fields that together make an image, by the name that they are shown under. */
  readonly fieldUpdates?: ReadonlyMap<string, LastUpdate>;
  /** Absent where there are none. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly hasAnnotations: boolean;
  /** The value of its annotation of consent; absent where it has none. */
  readonly allowPoliciesFrom?: string;
  /** The names of its pods' imagePullSecrets; absent where they have none. */
  readonly pullSecrets?: readonly string[];
  /** The service account of its pods; absent where they take the default one. */
  readonly serviceAccount?: string;
  /** Absent for kinds that do not roll out. */
  readonly rollout?: WorkloadRollout;
  /** Whether somebody paused its rollouts. */
  readonly paused?: boolean;
  /** The GitOps tool that has it, where one is known to. */
  readonly gitOps?: string;
}

export interface WorkloadContainer {
  readonly name: string;
  readonly image: string;
  /** The field manager that owns the image field, from managedFields; undefined where nobody is recorded. */
  readonly imageOwner?: string;
  /** When that manager wrote last. */
  readonly imageSetAt?: string;
  /** What the workload remembers of our last change; whether it still holds, the other fields tell. */
  readonly lastUpdate?: LastUpdate;
}

/** A volume whose content is an image; the other volumes of a pod template are not kept, so it says where it is in their list. */
export interface ImageVolume extends WorkloadContainer {
  readonly index: number;
}

/** A list of a pod template whose entries have images. */
export type ImageList = 'containers' | 'initContainers' | 'volumes';

/** Where in a pod template an image is; without `list` it is one of the containers. */
export interface ImagePlace {
  readonly index: number;
  readonly list?: ImageList;
}

/** A field of a custom resource: `value` is null where it is not set, but could be. */
export type WorkloadField =
  | { readonly value: string | number | null; readonly owner?: string; readonly setAt?: string }
  | { readonly unusable: 'ParentMissing' | 'NotText' };

/** A kind of object. */
export interface KindRef {
  /** Only of custom resources, where the kind alone does not say which one is meant. */
  readonly apiVersion?: string;
  readonly kind: string;
}

/** Names a namespaced object of a kind, as policies and Events do. */
export interface WorkloadRef extends KindRef {
  readonly namespace: string;
  readonly name: string;
}

/** Whether an API version is one of custom resources: their groups are domains, those of Kubernetes' own workloads are words. */
export function isCustomVersion(apiVersion: string | undefined): apiVersion is string {
  return apiVersion !== undefined && /^[^/]*\..*\//.test(apiVersion);
}

const volumePrefix = 'volumes/';

/** How an image volume is named among containers, because a container of the same pod may have its name: `volumes/models`. */
export function volumeName(name: string): string {
  return volumePrefix + name;
}

/** The volume's own name; undefined for the name of a container, which has no slash. */
export function readVolumeName(container: string): string | undefined {
  return container.startsWith(volumePrefix) ? container.slice(volumePrefix.length) : undefined;
}

/** Whatever has an image in a pod template, and where: containers, init containers, image volumes. Their names differ. */
export function imagesOf({
  containers,
  initContainers = [],
  volumes = [],
}: Pick<Workload, 'containers' | 'initContainers' | 'volumes'>): { readonly container: WorkloadContainer; readonly place: ImagePlace }[] {
  return [
    ...containers.map((container, index) => ({ container, place: { index } })),
    ...initContainers.map((container, index) => ({ container, place: { index, list: 'initContainers' as const } })),
    ...volumes.map((container) => ({ container, place: { index: container.index, list: 'volumes' as const } })),
  ];
}

/** A container, an init container or an image volume: their names differ. */
export function findContainer({ containers, initContainers = [], volumes = [] }: Workload, name: string): WorkloadContainer | undefined {
  return [...containers, ...initContainers, ...volumes].find((container) => container.name === name);
}

/** The name of a workload alone. */
export function refOf({ apiVersion, kind, namespace, name }: WorkloadRef): WorkloadRef {
  return { ...(isCustomVersion(apiVersion) && { apiVersion }), kind, namespace, name };
}

/** The name of a workload and its uid, where that is known. */
export function identityOf(workload: WorkloadIdentity): WorkloadIdentity {
  return { ...refOf(workload), ...(workload.uid !== undefined && { uid: workload.uid }) };
}

/** `Deployment shop/web`: for messages. */
export function formatWorkload(ref: WorkloadRef): string {
  return `${ref.kind} ${ref.namespace}/${ref.name}`;
}

/** `Deployment`, or `argoproj.io/v1alpha1/Rollout`: for maps. */
export function kindKey({ apiVersion, kind }: KindRef): string {
  return isCustomVersion(apiVersion) ? `${apiVersion}/${kind}` : kind;
}

/** `Deployment/shop/web`, or `argoproj.io/v1alpha1/Rollout/shop/web`: for maps. */
export function workloadKey(ref: WorkloadRef): string {
  return `${kindKey(ref)}/${ref.namespace}/${ref.name}`;
}

/** Names one very workload, where its uid is known: one that is created anew under the name is another. */
export interface WorkloadIdentity extends WorkloadRef {
  readonly uid?: string;
}

/** Whether both are the same workload, as far as their uids are known. */
export function isSameObject(a: WorkloadIdentity, b: WorkloadIdentity): boolean {
  return isSameWorkload(a, b) && (a.uid === undefined || b.uid === undefined || a.uid === b.uid);
}

/** Whether both name the same workload. */
export function isSameWorkload(a: WorkloadRef, b: WorkloadRef): boolean {
  return a.name === b.name && a.namespace === b.namespace && kindKey(a) === kindKey(b);
}

/** One image of a workload that is to become another one. */
export interface ContainerChange extends ImagePlace {
  /** Its name, for an image volume `volumes/NAME`; of a custom resource's fields the path of the one that holds the tag or the image. */
  readonly container: string;
  readonly from: string;
  readonly to: string;
  /** Of a custom resource: the fields that make the image, all of them. */
  readonly fields?: readonly FieldChange[];
  /** What the workload is to remember of it. */
  readonly update?: LastUpdate;
}

/** A field that is not set has null for a value; one without `to` stays, and guards the others. */
export interface FieldChange {
  readonly path: string;
  readonly from: string | number | null;
  readonly to?: string;
}
