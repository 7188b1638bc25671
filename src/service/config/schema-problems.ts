/** Describes in sentences what the schema rejects in a configuration. Texts of the user are shown only if they cannot be secrets: the messages are logged. */
import { z } from 'zod';
import { describeIssue } from '../resources/validation/schema-problems.ts';
import { closest } from '../../core/model/did-you-mean.ts';
import { formatKeys, type Keys, valueAt } from '../resources/validation/problem.ts';
import { schemaAt, unwrap, walkShape } from '../resources/validation/walk-schema.ts';

/** A problem of a setting, with its location. */
export interface SettingProblem {
  readonly keys: Keys;
  /** The environment variable that contains the setting, if no file does. */
  readonly variable?: string;
  readonly message: string;
  /** The similar setting that the user probably wanted to write. It is missing, but needs no second message. */
  readonly meant?: Keys | undefined;
}

/** One problem for each setting. Further problems of its value may be consequences of the first. */
export function describeIssues(schema: z.ZodType, { issues }: z.core.$ZodError, value: unknown): SettingProblem[] {
  const problems = issues.flatMap((issue) => toProblems(schema, issue, value));
  const seen = new Set(
    problems.flatMap(({ meant }) => (meant === undefined || valueAt(value, meant) !== undefined ? [] : [formatKeys(meant)])),
  );
  return problems.filter(({ keys }) => seen.size < seen.add(formatKeys(keys)).size);
}

/** The problems of an issue. zod reports the unknown keys of an object as one issue. */
function toProblems(schema: z.ZodType, issue: z.core.$ZodIssue, root: unknown): SettingProblem[] {
  const keys = issue.path.filter((key) => typeof key !== 'symbol');
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => describeUnknown(schema, keys, key));
  const value = valueAt(root, keys);
  if (typeof value === 'string' && issue.code === 'invalid_format') return [{ keys, message: `must be ${issue.message}` }];
  if (issue.code === 'invalid_union') return [{ keys, message: `must be ${issue.message}` }];
  const shown = typeof value === 'string' && issue.code !== 'invalid_value' ? 'a text' : undefined;
  return [{ keys, message: describeIssue(issue, value, schemaAt(schema, keys), shown) }];
}

/** A hint for an unknown setting: a similar one, a setting of that name elsewhere, or all settings there. */
function describeUnknown(root: z.ZodType, parent: Keys, key: string): SettingProblem {
  const keys = [...parent, key];
  const at = schemaAt(root, parent);
  const object = at && unwrap(at);
  const known = object instanceof z.ZodObject ? Object.keys(object.shape) : [];
  const similar = closest(key, known);
  if (similar !== undefined) return { keys, message: `is not a setting; did you mean "${similar}"?`, meant: [...parent, similar] };
  const elsewhere = [...walkShape(root)].filter((path) => path.at(-1) === key).map(formatKeys);
  if (elsewhere.length > 0 && elsewhere.length <= 3)
    return { keys, message: `is not a setting here; did you mean ${elsewhere.map((path) => `"${path}"`).join(' or ')}?` };
  return {
    keys,
    message: `is not a setting; ${parent.length === 0 ? 'the settings are' : `${formatKeys(parent)} has`} ${known.join(', ')}`,
  };
}
