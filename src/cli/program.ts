/** The command line as a whole: finds the command, and suggests one for an unknown name. */
import { didYouMean } from '../core/model/did-you-mean.ts';
import { ConfigError } from '../service/config/config-error.ts';
import { completer } from './completion.ts';
import { protectTerminal } from './safe-terminal.ts';
import { type CommandEntry, programName, type Terminal, UsageError } from '../service/command-line/command.ts';

/** Runs a command line, and returns the exit code. */
export function runProgram(commands: readonly CommandEntry[], args: readonly string[], terminal: Terminal): Promise<number> {
  return runWords(commands, args, protectTerminal(terminal));
}

async function runWords(commands: readonly CommandEntry[], args: readonly string[], terminal: Terminal): Promise<number> {
  const { program = programName } = terminal;
  const [first, ...rest] = args[0] === '__complete' ? args : withOptionsLast(args);
  const name = first === '--version' ? 'version' : first;
  if (name === undefined || name === '--help' || name === '-h' || (name === 'help' && rest.length === 0)) {
    (name === undefined ? terminal.err : terminal.out)(overviewOf(commands, program));
    return name === undefined ? 2 : 0;
  }
  if (name === 'help') return runWords(commands, [...rest, '--help'], terminal);
  const command = name === '__complete' ? completer(commands) : await commands.find((candidate) => candidate.name === name)?.load();
  if (command === undefined) {
    const known = commands.map((one) => one.name);
    const what = name.startsWith('-')
      ? `there is no option ${name} before a command`
      : `there is no command "${name}"${didYouMean(name, known)}`;
    terminal.err(`${what}\nRun ${program} --help for the list of commands.\n`);
    return 2;
  }
  try {
    if (
      name !== '__complete' &&
      command.options === undefined &&
      command.commands === undefined &&
      rest.some((word) => word === '--help' || word === '-h')
    ) {
      terminal.out(command.help(program));
      return 0;
    }
    return await command.run(rest, terminal);
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof ConfigError)) throw error;
    const page = error instanceof UsageError ? `Run ${program} ${error.command ?? command.name} --help for its usage.\n` : '';
    terminal.err(`${error.message}\n${page}`);
    return 2;
  }
}

/** Options that users of kubectl write before the command. */
const early = /^(?:-n|--namespace|--kubeconfig|--context|-o|--output|--color|-A|--all-namespaces)(?:=.*)?$/;
const isSwitch = /^(?:-A|--all-namespaces)$/;

/** Moves options after the command: `-n shop get web` → `get -n shop web`. */
function withOptionsLast(args: readonly string[]): readonly string[] {
  let at = 0;
  for (let word = args[0]; word !== undefined && early.test(word); word = args[at]) at += word.includes('=') || isSwitch.test(word) ? 1 : 2;
  const [command, ...rest] = args.slice(at);
  return command === undefined ? args : [command, ...args.slice(0, at), ...rest];
}

function overviewOf(commands: readonly CommandEntry[], program: string): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return `Usage: ${program} COMMAND [OPTIONS]

Webhook-driven image updates for Kubernetes.

${commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`).join('\n')}

Run ${program} COMMAND --help for details and examples.
Exit codes: 0 success, 1 failure or a negative result, 2 wrong usage or configuration.
`;
}
