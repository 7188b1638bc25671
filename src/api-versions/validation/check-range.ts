import { PermanentError } from '../../core/errors.ts';
import { strategies } from '../../core/strategies/index.ts';
import { isSatisfiable } from '../../core/version-range.ts';
import type { Finding } from '../rules.ts';

/** A version range in npm syntax that some version is in. */
export function checkRange(value: unknown): Finding[] {
  const range = String(value);
  try {
    strategies.semver({ range });
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    return [{ message: error.message, reason: error.reason }];
  }
  return isSatisfiable(range) ? [] : [{ message: `no version is in the range "${range}"`, reason: 'InvalidTagPolicy' }];
}
