import { parseImageReference } from '../../model/image-reference.ts';
import type { Finding } from '../rules.ts';
import { findingOf } from './finding-of.ts';

/** An image name by the grammar of distribution/reference. That it has no tag, digest, scheme or capitals is the business of rules. */
export function checkImageName(value: unknown): Finding[] {
  const text = String(value);
  return text.includes('@') || text.includes('://') ? [] : findingOf(() => parseImageReference(text));
}

/** Whether a name is spelt as registries spell it. What holds an "@" may hold a password, and is told without its text. */
export function isSpeltRight(value: unknown): boolean {
  const text = String(value);
  return text.includes('@') || (!text.includes('://') && !/[A-Z]/.test(text));
}

/** What to write instead of a name with a scheme or capitals. */
export function describeSpelling(value: unknown): string {
  const text = String(value);
  const scheme = text.indexOf('://');
  const name = scheme === -1 ? text : text.slice(scheme + 3);
  return `write "${name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())}": an image name is in lower case and has no scheme`;
}
