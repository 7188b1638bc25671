import { hasMoreValues, isObject } from '../../../core/model/untyped.ts';
import { z } from 'zod';
import { checksOf, rulesOf, type CheckContext } from '../rules.ts';
import { brokenRules } from './broken-rules.ts';
import { formatKeys, problem, type Problem, type Keys } from './problem.ts';
import { didYouMean } from '../../../core/model/did-you-mean.ts';
import { schemaProblems } from './schema-problems.ts';
import { withoutNulls, walkSchema, type Place } from './walk-schema.ts';

/** The limit for the values of a spec. Each costs some microseconds to check, and the API server stores specs of a hundred thousand. */
const maxValues = 4_096;

/** Whether a spec has more values than are checked. */
export function isTooLarge(spec: unknown): boolean {
  return hasMoreValues(spec, maxValues);
}

/** Everything that the schema, its rules and its checks find wrong with a spec. If the spec has too many values, only that is reported. */
export function specProblems(schema: z.ZodType, spec: unknown, context: CheckContext): Problem[] {
  if (spec === undefined || spec === null)
    return [problem(['spec'], 'the policy has no spec: write what to watch, what to choose and what to update')];
  if (isTooLarge(spec)) return [problem(['spec'], `holds more than ${maxValues} values: write several policies, or shorter lists`)];
  return valueProblems(schema, withoutNulls(spec), ['spec'], context);
}

/** Everything that is wrong with settings of the configuration that have the shape of fields of a policy, including unknown fields. */
export function settingProblems(schema: z.ZodType, value: unknown): Problem[] {
  return [...valueProblems(schema, value, [], {}), ...unknownFields(schema, value, [])];
}

function valueProblems(schema: z.ZodType, value: unknown, keys: Keys, context: CheckContext): Problem[] {
  const bySchema = schemaProblems(schema, value, keys);
  const reported = new Set(bySchema.map(({ path }) => path));
  const places = [...walkSchema(schema, value, keys)];
  const further = [...places.flatMap(keywordProblems), ...places.flatMap((place) => ruleProblems(place, context, reported))];
  // Only one problem is reported for each location, because a value of the wrong shape would violate the rules as well.
  return [...bySchema, ...further.filter(({ path }) => !reported.has(path))];
}

/** Everything that the rules and checks of its schema find wrong with a value. `reported`: the paths where the schema itself finds an error. */
function ruleProblems({ schema, value, keys }: Place, context: CheckContext, reported: ReadonlySet<string>): Problem[] {
  // A text that is too long is not compared with patterns, which may take the square of its length.
  const rules = reported.size > 0 && reported.has(formatKeys(keys)) ? [] : rulesOf(schema);
  return [
    ...brokenRules(rules, value, reported.size > 0).map((message) => problem(keys, message)),
    ...checksOf(schema)
      .flatMap((check) => check(value, context))
      .map((finding) => problem([...keys, ...(finding.keys ?? [])], finding.message, finding.reason)),
  ];
}

/** Violations of keywords that the API server checks and zod does not: lists that must be sets, and the size of a map. */
function keywordProblems(place: Place): Problem[] {
  const keywords = z.globalRegistry.get(place.schema) ?? {};
  return [
    ...(keywords['x-kubernetes-list-type'] === 'set' ? duplicates(place) : []),
    ...(typeof keywords['maxProperties'] === 'number' ? tooMany(place, keywords['maxProperties']) : []),
  ];
}

function duplicates({ value, keys }: Place): Problem[] {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  return entries.flatMap((entry, index) =>
    typeof entry === 'string' && entries.indexOf(entry) < index ? [problem([...keys, index], `"${entry}" is in the list twice`)] : [],
  );
}

function tooMany({ value, keys }: Place, maximum: number): Problem[] {
  return isObject(value) && Object.keys(value).length > maximum ? [problem(keys, `is too large: at most ${maximum} entries`)] : [];
}

/** Reports fields that the schema does not have. The API server silently drops them. */
export function unknownFields(schema: z.core.$ZodType, value: unknown, keys: Keys): Problem[] {
  return [...walkSchema(schema, value, keys)].flatMap((place) => {
    if (!(place.schema instanceof z.ZodObject) || !isObject(place.value)) return [];
    return unknownKeys(place.value, Object.keys(place.schema.shape), place.keys);
  });
}

/** The keys of an object that are not among the known ones. */
export function unknownKeys(value: Readonly<Record<string, unknown>>, known: readonly string[], keys: Keys): Problem[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => problem([...keys, key], `is not a field${didYouMean(key, known) || describe(known)}`));
}

function describe(known: readonly string[]): string {
  return known.length === 0 ? '; there are no fields here' : `; the fields are ${known.join(', ')}`;
}
