import { PermanentError } from '../model/errors.ts';
import { isCustomVersion, type KindRef } from '../model/workload.ts';
import type { TargetKind } from './target-kind.ts';
import { targets } from './targets/index.ts';

/** The target of a kind of Kubernetes itself; undefined for custom resources, which only discovery knows. */
export function findBuiltIn({ apiVersion, kind }: KindRef): TargetKind | undefined {
  return isCustomVersion(apiVersion) ? undefined : targets.find((candidate) => candidate.kind === kind);
}

/** The same; throws PermanentError(UnsupportedTargetKind) that lists those that exist. */
export function findTarget(ref: KindRef): TargetKind {
  const target = findBuiltIn(ref);
  if (target) return target;
  const known = targets.map((candidate) => candidate.kind).join(', ');
  throw new PermanentError('UnsupportedTargetKind', `"${ref.kind}" cannot be updated; supported kinds: ${known}`);
}
