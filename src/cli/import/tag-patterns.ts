/** Converts patterns of other updaters to `tags.allow` and `tags.ignore`. All are RE2 expressions, and none becomes a regular expression of this process. */
import { describeError } from '../../core/model/errors.ts';
import { compilePattern } from '../../core/model/pattern.ts';

/** A converted pattern, which is absent if it matches every tag; or the problem of the pattern. */
export type ConvertedPattern = { readonly allow?: string } | { readonly problem: string };

/** Converts a pattern that other updaters search anywhere in the tag, taking the first match. `tags.allow` has to match the whole tag. */
export function findAnywhere(pattern: string): ConvertedPattern {
  try {
    compilePattern(pattern);
    const allow = wholeTag(pattern);
    compilePattern(allow);
    return allow === '^.*$' ? {} : { allow };
  } catch (error) {
    return { problem: describeError(error) };
  }
}

function wholeTag(pattern: string): string {
  if (pattern === '' || pattern === '.*') return '^.*$';
  const isOne = !pattern.includes('|');
  const start = isOne && /^(?:\^|\.\*)/.test(pattern) ? '' : pattern.includes('(') ? '^.*?' : '^.*';
  const end = isOne && /(?<!\\)(?:\$|\.\*)$/.test(pattern) ? '' : '.*$';
  return `${start}${isOne ? pattern : `(?:${pattern})`}${end}`;
}

/** The only tag that a pattern matches, such as that of `^latest$`; undefined if it may match others. */
export function onlyTagOf(pattern: string): string | undefined {
  const tag = /^\^((?:[A-Za-z0-9_-]|\\\.)+)\$$/.exec(pattern)?.[1]?.replaceAll('\\.', '.');
  return tag !== undefined && tag.length <= 128 ? tag : undefined;
}

/** Converts a pattern of Go's filepath.Match (`*`, `?`, `[a-z]`, `\x`) for a whole tag. */
export function globPattern(glob: string): ConvertedPattern {
  let pattern = '';
  for (let index = 0; index < glob.length; index += 1) {
    const character = glob.charAt(index);
    if (character === '*') pattern += '.*';
    else if (character === '?') pattern += '.';
    else if (character === '\\') pattern += escapePattern(glob.charAt(++index));
    else if (character === '[') {
      const end = glob.indexOf(']', index + 1);
      if (end === -1) return { problem: `"${glob}" has "[" without "]"` };
      pattern += glob.slice(index, end + 1);
      index = end;
    } else pattern += escapePattern(character);
  }
  try {
    compilePattern(`^${pattern}$`);
    return { allow: `^${pattern}$` };
  } catch (error) {
    return { problem: describeError(error) };
  }
}

/** A pattern that matches only this text. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[.+*?^${}()|[\]\\]/g, String.raw`\$&`);
}
