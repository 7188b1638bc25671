import type { WorkloadRollout } from './workload-rollout.ts';

/** What planning needs of a workload: a slim copy, so that ten thousand of them fit in memory. */
export interface Workload {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** JSON pointer of the container list, for example `/spec/template/spec/containers`. */
  readonly containersPath: string;
  readonly containers: readonly WorkloadContainer[];
  readonly hasAnnotations: boolean;
  /** The value of its annotation of consent; absent where it has none. */
  readonly allowPoliciesFrom?: string;
  /** The names of its pods' imagePullSecrets; absent where they have none. */
  readonly pullSecrets?: readonly string[];
  /** The service account of its pods; absent where they take the default one. */
  readonly serviceAccount?: string;
  /** Absent for kinds that do not roll out. */
  readonly rollout?: WorkloadRollout;
}

export interface WorkloadContainer {
  readonly name: string;
  readonly image: string;
  /** The field manager that owns the image field, from managedFields; undefined where nobody is recorded. */
  readonly imageOwner?: string;
}

/** Names a namespaced object of a kind, as policies and Events do. */
export interface WorkloadRef {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** `Deployment shop/web`: for messages. */
export function formatWorkload(ref: WorkloadRef): string {
  return `${ref.kind} ${ref.namespace}/${ref.name}`;
}

/** `Deployment/shop/web`: for maps. */
export function workloadKey(ref: WorkloadRef): string {
  return `${ref.kind}/${ref.namespace}/${ref.name}`;
}
