import { PermanentError } from '../../../core/model/errors.ts';
import type { Reason } from '../../../core/model/reasons.ts';
import type { Finding } from '../rules.ts';

/** One problem of a document: its location, what to do about it, and the reason for conditions. */
export interface Problem {
  readonly keys: Keys;
  /** The location as a path: `spec.targets[0].name`. */
  readonly path: string;
  readonly message: string;
  readonly reason: Reason;
}

export function problem(keys: Keys, message: string, reason: Reason = 'InvalidPolicy'): Problem {
  return { keys, path: formatKeys(keys), message, reason };
}

/** The location of a value in a document: names of fields and indexes of lists. */
export type Keys = readonly (string | number)[];

/** A location as the API server writes it: `spec.targets[0].name`. */
export function formatKeys(keys: Keys): string {
  const text = keys.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
  return text.replace(/^\./, '');
}

/** The value at a location; undefined if there is none. */
export function valueAt(root: unknown, keys: Keys): unknown {
  let current = root;
  for (const key of keys) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

/** The PermanentError that `build` throws, as a finding; none if it does not throw. */
export function findingOf(build: () => unknown): Finding[] {
  try {
    build();
    return [];
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    return [{ message: error.message, reason: error.reason }];
  }
}
