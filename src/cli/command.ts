import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The input and output of a command; not the process's own, so that tests can call it. */
export interface Terminal {
  /** Whether `err` is a terminal, so that a line can be overwritten. */
  readonly interactive?: boolean;
  /** Reads the standard input to its end. */
  readonly readStandardInput?: () => Promise<string>;
  /** Whether `out` is a terminal with colours. */
  readonly hasColours?: boolean;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export interface Command {
  readonly name: string;
  /** One line for the overview. */
  readonly summary: string;
  /** The page for `--help`. */
  readonly help: string;
  /** Runs the command. Returns the exit code: 0 success, 1 failure or a negative result. Throws UsageError for wrong usage (2). */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

/** The command line cannot be understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Options = NonNullable<ParseArgsConfig['options']>;

/** node:util's parseArgs, with its errors as UsageErrors. */
export function parseOptions<T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** `--output text|json`. */
export function parseOutput(value: string | undefined): 'text' | 'json' {
  if (value === undefined || value === 'text') return 'text';
  if (value === 'json') return 'json';
  throw new UsageError(`--output is text or json, not "${value}"`);
}
