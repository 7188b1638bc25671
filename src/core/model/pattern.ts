import { RE2JS } from 're2js';
import { describeError, PermanentError } from './errors.ts';
import { estimatePatternSize } from './pattern-size.ts';

/** The longest RE2 expression, in UTF-16 units. */
export const maxPatternLength = 512;
/** The maximum number of instructions of one pattern. */
export const maxPatternSize = 1_000;
/** The maximum number of instructions of all patterns of one policy. It is limited because each tag is compared with all of them. */
export const maxPolicyPatternSize = 2_000;

/** An RE2 expression of a user. Matching takes linear time, and the number of instructions is bounded. */
export interface Pattern {
  readonly text: string;
  /** The maximum number of instructions of the compiled pattern. Matching costs that many steps for each character. */
  readonly size: number;
  readonly groups: PatternGroups;
  /** Reads the groups by number if the pattern matches the whole text; undefined if it does not. */
  matchWhole(text: string): ((group: number) => string | null) | undefined;
  /** Whether the pattern matches somewhere in the text. */
  isFoundIn(text: string): boolean;
}

/**
 * Compiles a user's pattern. Throws PermanentError(`reason`) with the problem. The size is estimated before compiling, because a few characters can stand for a
 * million instructions. The result holds no program: programs are cached, and compiled again after they were evicted.
 */
export function compilePattern(text: string, reason: 'InvalidTagPolicy' | 'InvalidPolicy' = 'InvalidTagPolicy'): Pattern {
  const invalid = (message: string, cause?: unknown) => new PermanentError(reason, message, { cause });
  if (text.length > maxPatternLength) throw invalid(`the pattern is longer than ${maxPatternLength} characters`);
  const size = estimatePatternSize(text);
  if (size > maxPatternSize) throw invalid(tooLarge(text, size));
  let program: RE2JS;
  try {
    program = programs.get(text, size);
  } catch (error) {
    throw invalid(`the pattern "${text}" is not RE2 syntax: ${describeError(error)}`, error);
  }
  // A second check, in case the estimate is wrong.
  if (program.programSize() > maxPatternSize) throw invalid(tooLarge(text, program.programSize()));
  return {
    text,
    size,
    groups: { count: program.groupCount(), names: program.namedGroups() },
    matchWhole(input) {
      const matcher = programs.get(text, size).matcher(input);
      return matcher.matches() ? (group) => matcher.group(group) : undefined;
    },
    // A Matcher is used because RE2JS then builds no automaton, which would keep up to 8 MB for each pattern.
    isFoundIn: (input) => programs.get(text, size).matcher(input).find(),
  };
}

function tooLarge(text: string, size: number): string {
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  const limit = `${maxPatternSize} are allowed: write smaller repetition counts and fewer classes such as \\pL`;
  return `the pattern "${shown}" is too large: it compiles to ${size} instructions, and ${limit}`;
}

/** A cache of programs by pattern. When they exceed the total size together, the least recently used are evicted. */
class ProgramCache {
  readonly #programs = new Map<string, { readonly program: RE2JS; readonly size: number }>();
  readonly #maxSize: number;
  #size = 0;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get(text: string, size: number): RE2JS {
    const known = this.#programs.get(text);
    const program = known?.program ?? RE2JS.compile(text);
    this.#programs.delete(text);
    this.#programs.set(text, { program, size });
    if (known === undefined) this.#size += size;
    for (const [oldest, { size }] of this.#programs) {
      if (this.#size <= this.#maxSize) break;
      this.#programs.delete(oldest);
      this.#size -= size;
    }
    return program;
  }
}

/** The capacity in instructions, each of about 0.3 kB: 30 MB at most, and thousands of patterns of the usual size. */
const programs = new ProgramCache(100_000);

/** The groups of a pattern: how many there are, and the numbers of the named ones. */
export interface PatternGroups {
  readonly count: number;
  readonly names: Readonly<Record<string, number>>;
}
