import { compileIdentityPattern } from '../../core/wanted-signer.ts';
import type { Finding } from '../rules.ts';
import { findingOf } from './finding-of.ts';

/** An RE2 expression for identities. */
export function checkIdentityPattern(value: unknown): Finding[] {
  return findingOf(() => compileIdentityPattern(String(value)));
}
