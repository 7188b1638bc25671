import { z } from 'zod';

/** A text of limited length. zod's own limits read the `length` of whatever they are given, and throw where that is an object that is no number. */
export function limitedText(maxLength: number, minLength = 0) {
  return z.string().refine((text) => text.length >= minLength && text.length <= maxLength, `longer than ${maxLength} characters, or empty`);
}

/** A short text, or undefined when the field holds anything else: one odd field must not hide a push. */
export const optionalText = limitedText(1024).nullish().catch(undefined);
