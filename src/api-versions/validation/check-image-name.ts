import { parseImageReference } from '../../core/image-reference.ts';
import type { Finding } from '../rules.ts';
import { findingOf } from './finding-of.ts';

/** An image name by the grammar of distribution/reference. That it has no tag or digest is the business of a rule. */
export function checkImageName(value: unknown): Finding[] {
  const text = String(value);
  return text.includes('@') ? [] : findingOf(() => parseImageReference(text));
}
