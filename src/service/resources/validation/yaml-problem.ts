import type { YAMLError } from 'yaml';

/** What is wrong with the syntax of a file, and what to do; in the parser's own words only where no others are known. */
export function describeYaml({ code, message }: Pick<YAMLError, 'code' | 'message'>): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'this key is written twice in the same place: merge the two';
    case 'MULTIPLE_DOCS':
      return 'a second document begins here: remove the line with ---, or give each document a file of its own in a folder';
    case 'TAB_AS_INDENT':
      return 'is not YAML: the line is indented with a tab; use spaces';
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'is not YAML: a second ": " in one line; put the value in quotes, or on the next line';
    default:
      return `is not YAML: ${describeUnclosed(message) ?? message}`;
  }
}

function describeUnclosed(message: string): string | undefined {
  const [, end] = /(?:and end with a|Missing closing) ([\]}"'])/.exec(message) ?? [];
  return end && `a bracket, brace or quote before this line is not closed: write ${end} where it ends`;
}
