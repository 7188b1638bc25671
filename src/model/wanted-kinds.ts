import { isUsable, type ImagePolicy } from './image-policy.ts';
import type { KindRef } from './workload.ts';

/** The kinds of a policy's targets, which must be known before the policy can be evaluated. */
export function wantedKinds({ spec }: Pick<ImagePolicy, 'spec'>): KindRef[] {
  return isUsable(spec) ? spec.targets.map(({ apiVersion, kind }) => ({ ...(apiVersion !== undefined && { apiVersion }), kind })) : [];
}
