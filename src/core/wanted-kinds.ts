import { isUsable, type ImagePolicy, type PolicyTarget } from './image-policy.ts';
import type { KindRef } from './workload.ts';

/** What has to be known of a target's kind: of custom resources also the fields. */
export function wantedKind({ apiVersion, kind, fields }: PolicyTarget): KindRef & { readonly fieldPaths?: readonly string[] } {
  return { ...(apiVersion !== undefined && { apiVersion }), kind, ...(fields !== undefined && { fieldPaths: Object.values(fields) }) };
}

/** The same of all targets of a policy. */
export function wantedKinds({ spec }: Pick<ImagePolicy, 'spec'>): ReturnType<typeof wantedKind>[] {
  return isUsable(spec) ? spec.targets.map(wantedKind) : [];
}
