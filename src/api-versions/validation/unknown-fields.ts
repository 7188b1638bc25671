import { z } from 'zod';
import { isDraft } from '../rules.ts';
import { didYouMean } from './closest.ts';
import { problem, type Problem } from './problem.ts';
import { walkSchema } from './walk-schema.ts';
import type { Keys } from './json-path.ts';

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
