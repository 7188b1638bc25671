import type { Check } from '../rules.ts';

/** A check that a text matches a pattern, which the schema does not demand. */
export function checkText(pattern: RegExp, hint: string): Check {
  return (value) =>
    typeof value !== 'string' || value === '' || pattern.test(value) ? [] : [{ message: `"${value}" is not valid: ${hint}` }];
}
