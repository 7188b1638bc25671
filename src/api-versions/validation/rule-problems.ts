import type { z } from 'zod';
import { checksOf, rulesOf, type CheckContext } from '../rules.ts';
import type { Keys } from './json-path.ts';
import { problem, type Problem } from './problem.ts';
import { walkSchema } from './walk-schema.ts';

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
