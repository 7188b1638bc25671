#!/usr/bin/env node
/** Runs the command in argv. This is the only place that ends the process. */
import { constants } from 'node:os';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import { styleText } from 'node:util';
import { commands } from './cli/index.ts';
import { runProgram } from './cli/program.ts';
import { programName, type Terminal } from './service/command-line/command.ts';

/** Whether kubectl started the program as a plugin, by the name of its file: that of the executable (argv0) or of a script. */
const isPlugin = [process.argv0, process.argv[1] ?? ''].some((path) => /^kubectl-image_watcher(?:\.exe)?$/.test(basename(path)));

/** Asks a question on a terminal; undefined at the end of the input. */
async function ask(question: string): Promise<string | undefined> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  return new Promise((resolve) => {
    lines.once('close', () => resolve(undefined));
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}

const terminal: Terminal = {
  ...(isPlugin && { program: `kubectl ${programName}` }),
  interactive: process.stderr.isTTY,
  readStandardInput: () => text(process.stdin),
  ...(process.stdin.isTTY && process.stdout.isTTY && { ask }),
  // The function styleText also evaluates NO_COLOR and FORCE_COLOR.
  hasColours: styleText('bold', 'a', { stream: process.stdout }) !== 'a',
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

// The reader has closed the pipe, as in "image-watcher get | head".
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 128 + constants.signals.SIGPIPE : 1));

// Needed because the kernel ignores signals to the first process of a container that have no handler.
if (process.pid === 1) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      if (process.listenerCount(signal) === 0) process.exit(128 + constants.signals[signal]);
    });
}
// Not awaited: the single-file executable is a CommonJS module, which has no await outside of functions.
void runProgram(commands, process.argv.slice(2), terminal).then((code) => (process.exitCode = code));
