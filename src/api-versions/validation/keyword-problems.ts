import { z } from 'zod';
import { isDraft, sizeOf } from '../rules.ts';
import type { Keys } from './json-path.ts';
import { problem, type Problem } from './problem.ts';
import { walkSchema, type Place } from './walk-schema.ts';

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
