import { z } from 'zod';

/** A sentence as an id with parameters, for readers of other languages. */
export const saidView = z
  .object({ id: z.string(), parameters: z.array(z.unknown()) })
  .describe('The same as an id with parameters: texts, numbers, and parts of the sentence, which are such objects themselves.');
