import { compilePattern, maxPatternLength, maxPolicyPatternSize } from '../../model/pattern.ts';
import { estimatePatternSize } from '../../model/pattern-size.ts';
import { fieldOf, type Finding } from '../rules.ts';
import { findingOf } from './problem.ts';
import { parseTemplate } from '../../select/extract-template.ts';
import { isSatisfiable, parseVersionRange } from '../../select/version-range.ts';

interface Written {
  readonly keys: readonly (string | number)[];
  readonly text: string;
  readonly reason: 'InvalidTagPolicy' | 'InvalidPolicy';
}

/** Every pattern of a policy is RE2 syntax and small enough, and so are all of them together: only then any of them is compiled. */
export function checkPatterns(spec: unknown): Finding[] {
  const patterns = patternsOf(spec);
  const total = patterns.reduce((sum, { text }) => sum + estimatePatternSize(text), 0);
  if (patterns.length > 1 && total > maxPolicyPatternSize) {
    const message = `the patterns of the policy compile to ${total} instructions, and ${maxPolicyPatternSize} are allowed: remove some, or write smaller repetition counts`;
    return [{ message, reason: 'InvalidTagPolicy' }];
  }
  return patterns.flatMap(({ keys, text, reason }) =>
    findingOf(() => compilePattern(text, reason)).map((finding) => ({ ...finding, keys })),
  );
}

/** What is longer than a pattern may be is told by the schema. */
function patternsOf(spec: unknown): Written[] {
  const tags = fieldOf(spec, 'tags');
  const signers = listOf(fieldOf(fieldOf(fieldOf(spec, 'verify'), 'cosign'), 'keyless'));
  const found = [
    { keys: ['tags', 'allow'], text: fieldOf(tags, 'allow'), reason: 'InvalidTagPolicy' as const },
    ...listOf(fieldOf(tags, 'ignore')).map((text, index) => ({
      keys: ['tags', 'ignore', index],
      text,
      reason: 'InvalidTagPolicy' as const,
    })),
    ...signers.map((signer, index) => ({
      keys: ['verify', 'cosign', 'keyless', index, 'identityPattern'],
      text: fieldOf(signer, 'identityPattern'),
      reason: 'InvalidPolicy' as const,
    })),
  ];
  return found.flatMap(({ text, ...where }) => (typeof text === 'string' && text.length <= maxPatternLength ? [{ ...where, text }] : []));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

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

/** The tag that select.digest follows is one of those that tags lets pass. */
export function checkFollowedTag(spec: unknown): Finding[] {
  const tag = fieldOf(fieldOf(fieldOf(spec, 'select'), 'digest'), 'tag');
  const tags = fieldOf(spec, 'tags');
  // What is wrong with the patterns themselves is told there.
  if (typeof tag !== 'string' || checkPatterns(spec).length > 0) return [];
  const ignore = fieldOf(tags, 'ignore');
  const ignored: readonly unknown[] = Array.isArray(ignore) ? ignore : [];
  const isLost = (pattern: unknown, isAllowed: boolean) => {
    if (typeof pattern !== 'string' || pattern.length > maxPatternLength) return false;
    const compiled = compilePattern(pattern);
    return isAllowed ? compiled.matchWhole(tag) === undefined : compiled.isFoundIn(tag);
  };
  const why = (keys: (string | number)[]): Finding => ({
    keys: ['tags', ...keys],
    message: `leaves out "${tag}", the only tag that select.digest follows: remove tags, which it does not need`,
    reason: 'InvalidTagPolicy',
  });
  return [
    ...(isLost(fieldOf(tags, 'allow'), true) ? [why(['allow'])] : []),
    ...ignored.flatMap((pattern, index) => (isLost(pattern, false) ? [why(['ignore', index])] : [])),
  ];
}

/** A version range in npm syntax that some version is in. */
export function checkRange(value: unknown): Finding[] {
  const range = String(value);
  const findings = findingOf(() => parseVersionRange(range.trim()));
  if (findings.length > 0 || isSatisfiable(parseVersionRange(range.trim()))) return findings;
  return [{ message: `no version is in the range "${range}"`, reason: 'InvalidTagPolicy' }];
}
