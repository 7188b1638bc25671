import { z } from 'zod';
import type { Said } from '../doctor/say.ts';

/** A sentence as an id with parameters, for readers of other languages. */
export const saidView = z
  .object({ id: z.string(), parameters: z.array(z.unknown()) })
  .describe('The same as an id with parameters: texts, numbers, and parts of the sentence, which are such objects themselves.');

/** A sentence as an answer has it. */
export function viewSaid({ id, parameters }: Said): z.input<typeof saidView> {
  return { id, parameters: [...parameters] };
}
