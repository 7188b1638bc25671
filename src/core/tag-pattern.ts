import { RE2JS } from 're2js';
import { describeError, PermanentError } from './errors.ts';

const maxLength = 512;

/**
 * Compiles a user's pattern. RE2 (linear time), because patterns are tenants' input. Throws PermanentError(InvalidTagPolicy) with the
 * parser's message.
 */
export function compilePattern(pattern: string): RE2JS {
  if (pattern.length > maxLength) throw new PermanentError('InvalidTagPolicy', `the pattern is longer than ${maxLength} characters`);
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new PermanentError('InvalidTagPolicy', `the pattern "${pattern}" is not RE2 syntax: ${describeError(error)}`, { cause: error });
  }
}
