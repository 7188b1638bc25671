import { didYouMean } from '../../../core/model/did-you-mean.ts';
import { z } from 'zod';
import { valueAt, problem, type Keys, type Problem } from './problem.ts';
import { schemaAt, unwrap } from './walk-schema.ts';

/** Everything that the schema itself, without its rules and checks, rejects in a value, in sentences. */
export function schemaProblems(schema: z.ZodType, value: unknown, keys: Keys): Problem[] {
  const parsed = schema.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues.map((issue) => {
    const at = issue.path.filter((key) => typeof key !== 'symbol');
    return problem([...keys, ...at], describeIssue(issue, valueAt(value, at), schemaAt(schema, at)));
  });
}

/** Describes what is wrong with a value, and what to write instead. `shown` replaces a value that must not be shown. */
export function describeIssue(issue: z.core.$ZodIssue, value: unknown, schema: z.core.$ZodType | undefined, shown = show(value)): string {
  if (value === undefined && issue.code !== 'custom') return `is missing: ${descriptionOf(schema)}`;
  switch (issue.code) {
    case 'invalid_type':
      return `is ${shown}: ${adviceFor(issue.expected, value, schema)}`;
    case 'invalid_value': {
      const known = issue.values.map(String);
      return `${shown} is none of ${known.join(', ')}${typeof value === 'string' ? didYouMean(value, known) : ''}`;
    }
    case 'too_small':
      return sizeOfType(issue.origin) === undefined || issue.minimum !== 1
        ? `is too small: ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`
        : `is empty: ${descriptionOf(schema)}`;
    case 'too_big':
      return `is too ${issue.origin === 'string' ? 'long' : 'large'}: at most ${issue.maximum} ${sizeOfType(issue.origin) ?? ''}`.trimEnd();
    case 'invalid_format':
      return `${shown} is not valid: ${issue.message}`;
    default:
      return issue.message;
  }
}

function descriptionOf(schema: z.core.$ZodType | undefined): string {
  const written = schema && (z.globalRegistry.get(schema)?.description ?? z.globalRegistry.get(unwrap(schema))?.description);
  return written ?? 'write it';
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  array: 'a list',
  object: 'fields with their values',
  record: 'names with their values',
};

function sizeOfType(origin: string): string | undefined {
  return { string: 'characters', array: 'entries' }[origin];
}

/** Advice for a value that YAML reads as another type: 1.20 as a number, and `on` as true. */
function adviceFor(expected: string, value: unknown, schema: z.core.$ZodType | undefined): string {
  const isUnquoted = expected === 'string' && (typeof value === 'number' || typeof value === 'boolean');
  if (isUnquoted && typeof value === 'number' && isDuration(schema)) return 'write it with its unit, such as 30s, 10m or 1h30m';
  if (isUnquoted) return 'write it in quotes';
  if (value === null) return `remove it, or write ${typeNames[expected] ?? expected}`;
  const isQuoted = typeof value === 'string' && /^(?:int|number|boolean)$/.test(expected) && /^(?:[0-9.]+|true|false)$/.test(value);
  return `write ${typeNames[expected] ?? expected}${isQuoted ? ', without quotes' : ''}`;
}

function isDuration(schema: z.core.$ZodType | undefined): boolean {
  return schema !== undefined && z.globalRegistry.get(unwrap(schema))?.['format'] === 'duration';
}

const maxShown = 60;

function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value === null) return 'empty';
  if (typeof value === 'object') return 'an object with fields';
  if (typeof value === 'string') return `"${value.length > maxShown ? `${value.slice(0, maxShown)}…` : value}"`;
  return `the ${typeof value === 'boolean' ? 'truth value' : 'number'} ${JSON.stringify(value)}`;
}
