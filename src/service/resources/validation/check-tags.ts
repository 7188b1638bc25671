/** Checks version ranges and the patterns of a policy. */
import { estimatePatternSize } from '../../../core/model/pattern-size.ts';
import { compilePattern, maxPatternLength, maxPolicyPatternSize } from '../../../core/model/pattern.ts';
import { parseTemplate } from '../../../core/select/extract-template.ts';
import { isSatisfiable, parseVersionRange } from '../../../core/select/version-range.ts';
import { fieldOf, type Finding } from '../rules.ts';
import { findingOf } from './problem.ts';

/** A pattern of a policy, and its location. */
interface WrittenPattern {
  readonly keys: readonly (string | number)[];
  readonly text: string;
  readonly reason: 'InvalidTagPolicy' | 'InvalidPolicy';
}

/** Checks that every pattern of a policy is RE2 syntax, and that the patterns are small enough, each and together. Nothing is compiled before that. */
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

/** The patterns of a spec, without those that are too long, which the schema reports. */
function patternsOf(spec: unknown): WrittenPattern[] {
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

/** Checks that `tags.extract` uses groups, and that `tags.allow` has them. */
export function checkExtract(tags: unknown): Finding[] {
  const extract = fieldOf(tags, 'extract');
  const allow = fieldOf(tags, 'allow');
  // An invalid pattern in `allow` is not checked here, because the check of `allow` reports it.
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

/** Checks that `tags` does not exclude the tag that `select.digest` follows. */
export function checkFollowedTag(spec: unknown): Finding[] {
  const tag = fieldOf(fieldOf(fieldOf(spec, 'select'), 'digest'), 'tag');
  const tags = fieldOf(spec, 'tags');
  // A policy with invalid patterns is not checked here, because checkPatterns reports them.
  if (typeof tag !== 'string' || checkPatterns(spec).length > 0) return [];
  const ignore = fieldOf(tags, 'ignore');
  const ignored: readonly unknown[] = Array.isArray(ignore) ? ignore : [];
  const isExcluded = (pattern: unknown, isAllowed: boolean) => {
    if (typeof pattern !== 'string' || pattern.length > maxPatternLength) return false;
    const compiled = compilePattern(pattern);
    return isAllowed ? compiled.matchWhole(tag) === undefined : compiled.isFoundIn(tag);
  };
  const finding = (keys: (string | number)[]): Finding => ({
    keys: ['tags', ...keys],
    message: `excludes "${tag}", the only tag that select.digest follows: remove tags, which select.digest does not need`,
    reason: 'InvalidTagPolicy',
  });
  return [
    ...(isExcluded(fieldOf(tags, 'allow'), true) ? [finding(['allow'])] : []),
    ...ignored.flatMap((pattern, index) => (isExcluded(pattern, false) ? [finding(['ignore', index])] : [])),
  ];
}

/** Checks that a version range is npm syntax and matches some version. */
export function checkRange(value: unknown): Finding[] {
  const range = String(value);
  const findings = findingOf(() => parseVersionRange(range.trim()));
  if (findings.length > 0 || isSatisfiable(parseVersionRange(range.trim()))) return findings;
  return [{ message: `no version is in the range "${range}"`, reason: 'InvalidTagPolicy' }];
}
