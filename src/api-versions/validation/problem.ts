import type { Reason } from '../../model/reasons.ts';
import { formatKeys, type Keys } from './json-path.ts';

/** One thing that is wrong with a document: where, what to do about it, and the reason for conditions. */
export interface Problem {
  readonly keys: Keys;
  /** `spec.targets[0].name`. */
  readonly path: string;
  readonly message: string;
  readonly reason: Reason;
}

/** A problem at a place. */
export function problem(keys: Keys, message: string, reason: Reason = 'InvalidPolicy'): Problem {
  return { keys, path: formatKeys(keys), message, reason };
}
