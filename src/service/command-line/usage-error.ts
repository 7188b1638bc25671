import { describeError } from '../../core/model/errors.ts';

/** Thrown if the command line cannot be understood; the message says what is wrong, and what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The command whose help shows the usage, if it is not the one that was called. */
  command: string | undefined;
}

/** Reads what an option or argument has. What is wrong with it is wrong usage, and no failure of the program. */
export function asUsage<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${what}: ${describeError(error)}`, { cause: error });
  }
}
