import { compilePattern } from '../../core/tag-pattern.ts';
import { fieldOf, type Finding } from '../rules.ts';
import { findingOf } from './finding-of.ts';

/** The tag that select.digest follows is one of those that tags lets pass. */
export function checkFollowedTag(spec: unknown): Finding[] {
  const tag = fieldOf(fieldOf(fieldOf(spec, 'select'), 'digest'), 'tag');
  const tags = fieldOf(spec, 'tags');
  if (typeof tag !== 'string') return [];
  const ignore = fieldOf(tags, 'ignore');
  const ignored: readonly unknown[] = Array.isArray(ignore) ? ignore : [];
  const isLost = (pattern: unknown, isAllowed: boolean) => {
    // What is no pattern is told there.
    if (typeof pattern !== 'string' || findingOf(() => compilePattern(pattern)).length > 0) return false;
    const compiled = compilePattern(pattern);
    return isAllowed ? !compiled.matches(tag) : compiled.matcher(tag).find();
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
