import { PermanentError } from '../../core/errors.ts';
import { parseImageReference } from '../../core/image-reference.ts';
import type { Finding } from '../rules.ts';

/** An image name by the grammar of distribution/reference. A tag or digest is the business of a rule. */
export function checkImageName(value: unknown): Finding[] {
  const text = String(value);
  if (text.includes('@')) return [];
  try {
    parseImageReference(text);
    return [];
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    return [{ message: error.message, reason: error.reason }];
  }
}
