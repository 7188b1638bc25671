#!/usr/bin/env node
/** argv → command; the only place that ends the process. */
import { constants } from 'node:os';
import { text } from 'node:stream/consumers';
import { didYouMean } from './api-versions/validation/schema-problems.ts';
import { commands } from './cli/index.ts';
import { UsageError, type Terminal } from './cli/command.ts';
import { ConfigError } from './config.ts';

const terminal: Terminal = {
  interactive: process.stderr.isTTY,
  readStandardInput: () => text(process.stdin),
  // Knows NO_COLOR and FORCE_COLOR.
  hasColours: process.stdout.isTTY && process.stdout.hasColors(),
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

const nameWidth = Math.max(...commands.map(({ name }) => name.length));

const overview = `Usage: image-watcher COMMAND [OPTIONS]

Webhook-driven image updates for Kubernetes.

${commands.map((command) => `  ${command.name.padEnd(nameWidth)}  ${command.summary}`).join('\n')}

Run image-watcher COMMAND --help for details.
Exit codes: 0 success, 1 failure or a negative result, 2 wrong usage or configuration.
`;

// The kernel does not end the first process of a container by a signal without a handler.
if (process.pid === 1) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      if (process.listenerCount(signal) === 0) process.exit(128 + constants.signals[signal]);
    });
}
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args;
  const name = first === '--version' ? 'version' : first;
  const command = commands.find((candidate) => candidate.name === name);
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    (name === undefined ? terminal.err : terminal.out)(overview);
    return name === undefined ? 2 : 0;
  }
  if (command === undefined) {
    const similar = didYouMean(
      name,
      commands.map(({ name }) => name),
    );
    terminal.err(`there is no command "${name}"${similar}\nRun image-watcher --help for the list of commands.\n`);
    return 2;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    terminal.out(command.help);
    return 0;
  }
  try {
    return await command.run(rest, terminal);
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof ConfigError)) throw error;
    terminal.err(`${error.message}\n${error instanceof UsageError ? `Run image-watcher ${command.name} --help for its usage.\n` : ''}`);
    return 2;
  }
}
