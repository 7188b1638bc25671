import { RE2JS } from 're2js';
import { PermanentError } from '../errors.ts';
import type { TagStrategy } from './strategy.ts';

const maxPatternLength = 512;

/**
 * The last tag in the order of code units, among those that the RE2 pattern matches as a whole.
 * RE2 (linear time): patterns are tenants' input. Throws PermanentError(InvalidTagPolicy) with the parser's message.
 */
export function alphabetical(options: { pattern: string }): TagStrategy {
  const compiled = compile(options.pattern);
  return {
    id: 'alphabetical',
    description: `the alphabetically last tag that matches "${options.pattern}"`,
    reject: (tag) => (compiled.matches(tag) ? undefined : `"${tag}" does not match "${options.pattern}"`),
    compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
  };
}

function compile(pattern: string): RE2JS {
  if (pattern.length > maxPatternLength)
    throw new PermanentError('InvalidTagPolicy', `the pattern is longer than ${maxPatternLength} characters`);
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new PermanentError('InvalidTagPolicy', `the pattern "${pattern}" is not RE2 syntax: ${message}`, { cause: error });
  }
}
