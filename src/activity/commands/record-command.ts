import { describeError } from '../../core/model/errors.ts';
import { ConfigError } from '../../service/config/config-error.ts';
import { type Terminal, UsageError } from '../../service/command-line/command.ts';
import { printable } from '../../service/command-line/printable.ts';

/** Runs a command that reads the durable record; prints why it cannot be read, and returns exit code 1. */
export async function recordCommand(terminal: Terminal, act: (signal: AbortSignal) => Promise<number>): Promise<number> {
  try {
    return await act(terminal.signal ?? new AbortController().signal);
  } catch (error) {
    if (error instanceof UsageError || error instanceof ConfigError) throw error;
    terminal.err(`${printable(`the record cannot be read: ${describeError(error)}`)}\n`);
    return 1;
  }
}
