import { compilePattern } from '../../core/tag-pattern.ts';
import type { Finding } from '../rules.ts';
import { findingOf } from './finding-of.ts';

/** An RE2 expression. */
export function checkPattern(value: unknown): Finding[] {
  return findingOf(() => compilePattern(String(value)));
}
