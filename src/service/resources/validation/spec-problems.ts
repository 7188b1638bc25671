import { hasMoreValues, isObject } from '../../../core/model/untyped.ts';
import { z } from 'zod';
import { checksOf, rulesOf, sizeOf, type CheckContext } from '../rules.ts';
import { problem, type Problem, type Keys } from './problem.ts';
import { didYouMean } from '../../../core/model/did-you-mean.ts';
import { schemaProblems } from './schema-problems.ts';
import { withoutNulls, walkSchema, type Place } from './walk-schema.ts';

/** Each value costs some microseconds to check, and the API server stores specs of a hundred thousand. */
const maxValues = 4_096;

/** Whether a spec has more values than are checked. */
export function isTooLarge(spec: unknown): boolean {
  return hasMoreValues(spec, maxValues);
}

/** Everything that the schema, its rules and its checks find wrong with a spec. Of one with too many values, only that. */
export function specProblems(schema: z.ZodType, spec: unknown, context: CheckContext): Problem[] {
  if (spec === undefined || spec === null)
    return [problem(['spec'], 'the policy has no spec: write what to watch, what to choose and what to update')];
  if (isTooLarge(spec)) return [problem(['spec'], `holds more than ${maxValues} values: write several policies, or shorter lists`)];
  return valueProblems(schema, withoutNulls(spec), ['spec'], context);
}

/** The same for the settings of the configuration that have the shape of fields of a policy, with the fields that the schema does not have. */
export function settingProblems(schema: z.ZodType, value: unknown): Problem[] {
  return [...valueProblems(schema, value, [], {}), ...unknownFields(schema, value, [])];
}

function valueProblems(schema: z.ZodType, value: unknown, keys: Keys, context: CheckContext): Problem[] {
  const bySchema = schemaProblems(schema, value, keys);
  const reported = new Set(bySchema.map(({ path }) => path));
  const further = [...keywordProblems(schema, value, keys), ...ruleProblems(schema, value, keys, context)];
  // One problem for each location: a value of the wrong shape would fail the rules as well.
  return [...bySchema, ...further.filter(({ path }) => !reported.has(path))];
}

/** Everything that the rules and checks of a schema find wrong, anywhere in a value. */
function ruleProblems(schema: z.core.$ZodType, value: unknown, keys: Keys, context: CheckContext): Problem[] {
  return [...walkSchema(schema, value, keys)].flatMap((place) => [
    ...rulesOf(place.schema)
      .filter((rule) => !rule.holds(place.value))
      .map((rule) => problem(place.keys, rule.explained?.describe(place.value) ?? rule.message)),
    ...checksOf(place.schema)
      .flatMap((check) => check(place.value, context))
      .map((finding) => problem([...place.keys, ...(finding.keys ?? [])], finding.message, finding.reason)),
  ]);
}

/** Violations of keywords that the API server checks and zod does not: lists that are sets, and the size of a map. */
function keywordProblems(schema: z.core.$ZodType, value: unknown, keys: Keys): Problem[] {
  return [...walkSchema(schema, value, keys)].flatMap((place) => {
    const keywords = z.globalRegistry.get(place.schema) ?? {};
    return [
      ...(keywords['x-kubernetes-list-type'] === 'set' ? duplicates(place) : []),
      ...(typeof keywords['maxProperties'] === 'number' ? tooMany(place, keywords['maxProperties']) : []),
    ];
  });
}

function duplicates({ value, keys }: Place): Problem[] {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  return entries.flatMap((entry, index) =>
    typeof entry === 'string' && entries.indexOf(entry) < index ? [problem([...keys, index], `"${entry}" is in the list twice`)] : [],
  );
}

function tooMany({ value, keys }: Place, maximum: number): Problem[] {
  return isObject(value) && sizeOf(value) > maximum ? [problem(keys, `is too large: at most ${maximum} entries`)] : [];
}

/** Fields that the schema does not have: the API server silently drops them. */
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
