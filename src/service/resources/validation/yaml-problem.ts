import type { YAMLError } from 'yaml';
import { describeError } from '../../../core/model/errors.ts';

/** What is wrong with the syntax of a file, and what to do; in the parser's own words only where no others are known. */
export function describeYaml({ code, message }: Pick<YAMLError, 'code' | 'message'>): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'this key is written twice in the same place: merge the two';
    case 'MULTIPLE_DOCS':
      return 'a second document begins here: remove the line with ---, or give each document a file of its own in a folder';
    case 'TAB_AS_INDENT':
      return 'is not YAML: the line is indented with a tab; use spaces';
    case 'BAD_ALIAS':
      return 'is not YAML: a value that begins with * is an alias; put it in quotes';
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'is not YAML: a second ": " in one line; put the value in quotes, or on the next line';
    default:
      return `is not YAML: ${describeUnclosed(message) ?? message}`;
  }
}

/** What is wrong with the aliases of a file that is YAML otherwise. */
export function describeAlias(error: unknown): string {
  const [, name] = /^Unresolved alias .*: (.*)$/.exec(describeError(error)) ?? [];
  if (name === undefined) return `cannot be read: ${describeError(error)}`;
  return `*${name} refers to nothing, because a value that begins with * is an alias in YAML: put it in quotes, or write &${name} before the value that it repeats`;
}

function describeUnclosed(message: string): string | undefined {
  const [, end] = /(?:end with a|Missing closing) ([\]}"'])/.exec(message) ?? [];
  return end && `a bracket, brace or quote before this line is not closed: write ${end} where it ends`;
}
