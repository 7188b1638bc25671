import { parseTemplate } from '../../select/extract-template.ts';
import { compilePattern } from '../../model/pattern.ts';
import { fieldOf, type Finding } from '../rules.ts';
import { findingOf } from './finding-of.ts';

/** `tags.extract` uses groups, and `tags.allow` has them. */
export function checkExtract(tags: unknown): Finding[] {
  const extract = fieldOf(tags, 'extract');
  const allow = fieldOf(tags, 'allow');
  // What is wrong with allow is told there.
  if (typeof extract !== 'string' || typeof allow !== 'string' || findingOf(() => compilePattern(allow)).length > 0) return [];
  let usesGroup = false;
  const noteUse = () => {
    usesGroup = true;
    return '';
  };
  const findings = findingOf(() => parseTemplate(extract, compilePattern(allow).groups)(noteUse));
  if (findings.length === 0 && !usesGroup) {
    const message = `"${extract}" has no group of allow, so all tags would be equal: write one, such as "$version" or "$1"`;
    findings.push({ message, reason: 'InvalidTagPolicy' });
  }
  return findings.map((finding) => ({ ...finding, keys: ['extract'] }));
}
