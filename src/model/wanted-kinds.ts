import { isUsable, type ImagePolicy } from './image-policy.ts';
import type { KindRef } from './workload.ts';

/** The kinds of a policy's targets, which have to be known before anything can be said of them. */
export function wantedKinds({ spec }: Pick<ImagePolicy, 'spec'>): KindRef[] {
  return isUsable(spec) ? spec.targets.map(({ apiVersion, kind }) => ({ ...(apiVersion !== undefined && { apiVersion }), kind })) : [];
}
