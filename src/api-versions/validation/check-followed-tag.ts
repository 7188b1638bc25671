import { compilePattern, maxPatternLength } from '../../model/pattern.ts';
import { fieldOf, type Finding } from '../rules.ts';
import { checkPatterns } from './check-patterns.ts';

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
