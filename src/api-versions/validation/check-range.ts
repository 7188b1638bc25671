import { isSatisfiable, parseVersionRange } from '../../select/version-range.ts';
import type { Finding } from '../rules.ts';
import { findingOf } from './finding-of.ts';

/** A version range in npm syntax that some version is in. */
export function checkRange(value: unknown): Finding[] {
  const range = String(value);
  const findings = findingOf(() => parseVersionRange(range.trim()));
  if (findings.length > 0 || isSatisfiable(parseVersionRange(range.trim()))) return findings;
  return [{ message: `no version is in the range "${range}"`, reason: 'InvalidTagPolicy' }];
}
