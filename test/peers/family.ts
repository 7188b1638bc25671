import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

/** A table of cases that other projects test themselves with, and how each case is put to this one. */
export interface Family {
  /** The name of its files in `cases/` and `differences/`. */
  readonly id: string;
  /** Our answer to the input of a case, as a JSON value. */
  answer(input: unknown): unknown;
}

/** A family whose inputs have one shape. */
export function family<T extends z.ZodType>(id: string, input: T, answer: (input: z.output<T>) => unknown): Family {
  return { id, answer: (raw) => answer(input.parse(raw)) };
}

const caseSchema = z.strictObject({ id: z.string().min(1), source: z.string().min(1), input: z.unknown(), expected: z.json() });
const differenceSchema = z.strictObject({
  /** What is different, in one line. */
  title: z.string().min(1),
  /** `planned` differences are to go; the others are meant. */
  kind: z.enum(['by-design', 'planned']),
  why: z.string().min(1),
  /** What somebody who comes from there writes or does. */
  instead: z.string().min(1).optional(),
  /** Our answer by the id of the case. */
  cases: z.record(z.string(), z.json()),
});

/** One case: what is asked, and what the project that it comes from answers. */
export type Case = z.output<typeof caseSchema>;

/** Cases in which we answer something else, for one reason. */
export type Difference = z.output<typeof differenceSchema>;

/** The cases of a family. */
export function readCases(id: string): readonly Case[] {
  return z.array(caseSchema).parse(readJson('cases', id));
}

/** The listed differences of a family. */
export function readDifferences(id: string): readonly Difference[] {
  return z.array(differenceSchema).parse(readJson('differences', id));
}

/** Where the cases come from, by the words with which their `source` begins. */
export const sources = z
  .record(z.string(), z.strictObject({ name: z.string(), project: z.string(), version: z.string(), licence: z.string() }))
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'sources.json'), 'utf8')));

/** Our answer to each case in which it is not the expected one, by the case's id. */
export async function findDifferences({ answer }: Family, cases: readonly Case[]): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const { id, input, expected } of cases) {
    const ours = await answer(input);
    if (!isDeepStrictEqual(ours, expected)) found.set(id, ours);
  }
  return found;
}

/** What of the list is not so: differences that it does not have, has no longer, or has with another answer. */
export function compareLists(found: ReadonlyMap<string, unknown>, listed: readonly Difference[]): string[] {
  const answers = listed.flatMap(({ cases }) => Object.entries(cases));
  const known = new Map<string, unknown>(answers);
  return [
    ...[...found].filter(([id]) => !known.has(id)).map(([id, ours]) => `new: ${JSON.stringify(id)}: ${JSON.stringify(ours)}`),
    ...[...known.keys()].filter((id) => !found.has(id)).map((id) => `no longer different: ${JSON.stringify(id)}`),
    ...[...found]
      .filter(([id, ours]) => known.has(id) && !isDeepStrictEqual(ours, known.get(id)))
      .map(([id, ours]) => `another answer: ${JSON.stringify(id)}: ${JSON.stringify(ours)}, not ${JSON.stringify(known.get(id))}`),
    ...answers
      .filter(([id], index) => answers.findIndex(([other]) => other === id) < index)
      .map(([id]) => `listed twice: ${JSON.stringify(id)}`),
  ];
}

function readJson(folder: string, id: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, folder, `${id}.json`), 'utf8'));
}
