import { PermanentError } from '../core/errors.ts';
import type { TargetKind } from './target-kind.ts';
import { targets } from './targets/index.ts';

/** The target of this kind; throws PermanentError(UnsupportedTargetKind) that lists those that exist. */
export function findTarget(kind: string): TargetKind {
  const target = targets.find((candidate) => candidate.kind === kind);
  if (target) return target;
  const known = targets.map((candidate) => candidate.kind).join(', ');
  throw new PermanentError('UnsupportedTargetKind', `"${kind}" cannot be updated; supported kinds: ${known}`);
}
