import { z } from 'zod';
import { tryParseImageReference } from '../../../src/core/model/image-reference.ts';
import { family } from '../family.ts';

/** What an image name means. */
export const references = family('references', z.strictObject({ text: z.string() }), ({ text }) => {
  const { repository, tag, digest } = tryParseImageReference(text) ?? {};
  return repository === undefined
    ? 'invalid'
    : { ...repository, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
});
