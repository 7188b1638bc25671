import { z } from 'zod';

/** A short text, or undefined when the field holds anything else: one odd field must not hide a push. */
export const optionalText = z.string().max(1024).nullish().catch(undefined);
