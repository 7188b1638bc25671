import type { ImagePolicy } from '../model/image-policy.ts';
import type { Reason } from '../model/reasons.ts';

/** A Kubernetes Event, about a policy or a workload. */
export interface ObjectEvent {
  readonly regarding: { apiVersion: string; kind: string; namespace: string; name: string; uid: string };
  readonly type: 'Normal' | 'Warning';
  readonly reason: Reason;
  readonly action: string;
  readonly message: string;
}

/** A policy as what an Event is about. */
export function toObject({ apiVersion, namespace, name, uid }: ImagePolicy): ObjectEvent['regarding'] {
  return { apiVersion, kind: 'ImagePolicy', namespace, name, uid };
}
