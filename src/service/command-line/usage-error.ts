/** Thrown if the command line cannot be understood; the message says what is wrong, and what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The command whose help shows the usage, if it is not the one that was called. */
  command: string | undefined;
}
