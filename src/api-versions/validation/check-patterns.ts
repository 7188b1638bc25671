import { compilePattern, maxPatternLength, maxPolicyPatternSize } from '../../model/pattern.ts';
import { estimatePatternSize } from '../../model/pattern-size.ts';
import { fieldOf, type Finding } from '../rules.ts';
import { findingOf } from './finding-of.ts';

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
