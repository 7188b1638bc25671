import { z } from 'zod';
import { type CheckContext, checksOf, rulesOf, isDraft, sizeOf } from '../rules.ts';
import { problem, type Problem, type Keys } from './problem.ts';
import { schemaProblems, didYouMean } from './schema-problems.ts';
import { withoutNulls, walkSchema, type Place } from './walk-schema.ts';

/** All that is wrong with a spec by its schema, its rules and its checks. */
export function specProblems(schema: z.ZodType, spec: unknown, context: CheckContext): Problem[] {
  if (spec === undefined || spec === null)
    return [problem(['spec'], 'the policy has no spec: write what to watch, what to choose and what to update')];
  const value = withoutNulls(spec);
  const bySchema = schemaProblems(schema, value, ['spec']);
  const told = new Set(bySchema.map(({ path }) => path));
  const further = [...keywordProblems(schema, value, ['spec']), ...ruleProblems(schema, value, ['spec'], context)];
  // What is empty or misspelt says nothing that were worth a second complaint.
  return [...bySchema, ...further.filter(({ path }) => !told.has(path))];
}

/** What the rules and checks of a schema say of a value, everywhere in it, whatever else is wrong. */
export function ruleProblems(schema: z.core.$ZodType, value: unknown, keys: Keys, context: CheckContext): Problem[] {
  return [...walkSchema(schema, value, keys)].flatMap((place) => [
    ...rulesOf(place.schema)
      .filter((rule) => !rule.holds(place.value))
      .map((rule) => problem(place.keys, rule.explained?.describe(place.value) ?? rule.message)),
    ...checksOf(place.schema)
      .flatMap((check) => check(place.value, context))
      .map((finding) => problem([...place.keys, ...(finding.keys ?? [])], finding.message, finding.reason)),
  ]);
}

/** What keywords of the CRD say that zod does not know: lists that are sets, and how large a map may be. */
export function keywordProblems(schema: z.core.$ZodType, value: unknown, keys: Keys): Problem[] {
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
  return isDraft(value) && sizeOf(value) > maximum ? [problem(keys, `is too large: at most ${maximum} entries`)] : [];
}

/** Fields that the schema does not have: the API server drops them, so what they say would never happen. */
export function unknownFields(schema: z.core.$ZodType, value: unknown, keys: Keys): Problem[] {
  return [...walkSchema(schema, value, keys)].flatMap((place) => {
    if (!(place.schema instanceof z.ZodObject) || !isDraft(place.value)) return [];
    return unknownKeys(place.value, Object.keys(place.schema.shape), place.keys);
  });
}

/** The keys of an object that are none of the known ones. */
export function unknownKeys(value: Readonly<Record<string, unknown>>, known: readonly string[], keys: Keys): Problem[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => problem([...keys, key], `is not a field${didYouMean(key, known) || describe(known)}`));
}

function describe(known: readonly string[]): string {
  return known.length === 0 ? '; nothing is written here' : `; there are ${known.join(', ')}`;
}
