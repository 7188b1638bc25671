/** Sentences of findings as ids with parameters, so that each reader gets them in his language. Pure. */
import { sentences, type SentenceId } from './sentences.ts';

/** A sentence, or a part of one. A parameter is a text of somebody else, a number, or a part of the sentence. */
export interface Said {
  readonly id: SentenceId;
  readonly parameters: readonly (string | number | Said)[];
}

/** The sentence with this id. Its parameters are named `{0}`, `{1}` in `sentences`. */
export function say(id: SentenceId, ...parameters: Said['parameters']): Said {
  return { id, parameters };
}

/** The text of a sentence in the language of a table; undefined for an id that the table does not have. */
export function sayIn(table: Readonly<Record<string, string>>, said: SaidElsewhere): string | undefined {
  const template = Object.hasOwn(table, said.id) ? table[said.id] : undefined;
  return template?.replaceAll(/\{(\d)\}/g, (_, index: string) => textOf(table, said.parameters[Number(index)]));
}

/** A sentence as another process said it, which may have another version. */
export interface SaidElsewhere {
  readonly id: string;
  readonly parameters: readonly unknown[];
}

/** The text of a sentence in English. */
export function inEnglish(said: Said): string {
  return sayIn(sentences, said) ?? said.id;
}

function textOf(table: Readonly<Record<string, string>>, parameter: unknown): string {
  if (isSaid(parameter)) return sayIn(table, parameter) ?? '';
  return typeof parameter === 'string' || typeof parameter === 'number' ? String(parameter) : '';
}

/** Whether a parameter is a part of the sentence. */
export function isSaid(value: unknown): value is SaidElsewhere {
  return typeof value === 'object' && value !== null && 'id' in value && 'parameters' in value && Array.isArray(value.parameters);
}

const units = [
  [86_400_000, 'age.days'],
  [3_600_000, 'age.hours'],
  [60_000, 'age.minutes'],
] as const;

/** An age in words: `3 min`. */
export function sayAge(ms: number): Said {
  const [unit, id] = units.find(([unit]) => Math.abs(ms) >= 2 * unit) ?? [1_000, 'age.seconds' as const];
  return say(id, Math.round(Math.abs(ms) / unit));
}
