import { strategies } from '../../core/strategies/index.ts';
import { isSatisfiable } from '../../core/version-range.ts';
import type { Finding } from '../rules.ts';
import { findingOf } from './finding-of.ts';

/** A version range in npm syntax that some version is in. */
export function checkRange(value: unknown): Finding[] {
  const range = String(value);
  const findings = findingOf(() => strategies.semver({ range }));
  if (findings.length > 0 || isSatisfiable(range)) return findings;
  return [{ message: `no version is in the range "${range}"`, reason: 'InvalidTagPolicy' }];
}
