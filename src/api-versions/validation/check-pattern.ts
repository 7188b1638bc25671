import { PermanentError } from '../../core/errors.ts';
import { compileTagPattern, type TagPattern } from '../../core/tag-pattern.ts';
import type { Finding } from '../rules.ts';

/** An RE2 expression. */
export function checkPattern(value: unknown): Finding[] {
  const pattern = tryCompile(String(value));
  return pattern instanceof PermanentError ? [{ message: pattern.message, reason: pattern.reason }] : [];
}

/** The compiled pattern, or what is wrong with it. */
export function tryCompile(text: string): TagPattern | PermanentError {
  try {
    return compileTagPattern(text);
  } catch (error) {
    if (error instanceof PermanentError) return error;
    throw error;
  }
}
