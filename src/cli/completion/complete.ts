/** Computes the words that may complete a command line. Pure. */
import type { Argument, Command, Completed, Option, Options } from '../../service/command-line/command.ts';

/** What completion needs of a command. Of a command that the line does not name, only the name is needed. */
type Known = Pick<Command, 'name' | 'summary' | 'options' | 'arguments' | 'commands'>;

/** A word that may complete the line, and its meaning. */
export interface Candidate {
  readonly word: string;
  readonly about?: string;
}

/** Known words, or (`ask`) something to look up in the cluster or the file system. */
export type Completion =
  | { readonly candidates: readonly Candidate[] }
  | { readonly ask: Completed; readonly given: Readonly<Record<string, string>>; readonly prefix: string };

/** The options that may precede the command. */
const early: Options = {
  namespace: { short: 'n', value: 'NAMESPACE', completes: 'namespace', about: 'the namespace' },
  kubeconfig: { value: 'FILE', completes: 'file', about: 'the kubeconfig' },
  context: { value: 'NAME', completes: 'context', about: 'a context of the kubeconfig' },
};

/** Completes the last word of a command line, which may be empty. */
export function complete(commands: readonly Known[], words: readonly string[]): Completion {
  const line = [...words];
  const last = line.pop() ?? '';
  const given: Record<string, string> = {};
  let options = early;
  let known: readonly Known[] | undefined = commands;
  let command: Known | undefined;
  let open: Option | undefined;
  let positionals = 0;
  for (const word of line) {
    if (open !== undefined) {
      const name = nameOf(open, options);
      if (name !== undefined) given[name] = word;
      open = undefined;
    } else if (word.startsWith('-')) {
      const [flag = '', value] = word.split(/=(.*)/s);
      const [name, option] = find(flag, options) ?? [];
      if (name !== undefined && value !== undefined) given[name] = value;
      else if (option?.value !== undefined) open = option;
    } else if (known !== undefined) {
      const full: string = command === undefined ? word : `${command.name} ${word}`;
      const found: Known | undefined = known.find(({ name }) => name === full);
      // A command that also runs by itself takes the word as its argument.
      if (found === undefined && command?.options === undefined) return { candidates: [] };
      if (found === undefined) positionals++;
      command = found ?? command;
      known = found?.commands;
      options = command?.options ?? {};
    } else positionals++;
  }
  if (open !== undefined) return valueOf(open, last, given);
  const [, flag, value = ''] = /^(--[^=]+)=(.*)$/s.exec(last) ?? [];
  if (flag !== undefined) {
    const [, option] = find(flag, options) ?? [];
    return option?.value === undefined ? { candidates: [] } : valueOf(option, value, given);
  }
  if (last.startsWith('-')) return matching(optionsOf(options), last);
  if (known !== undefined)
    return matching(
      known
        .filter(({ name }) => name !== command?.name)
        .map(({ name, summary }) => ({ word: name.slice(name.lastIndexOf(' ') + 1), about: summary })),
      last,
    );
  if (command?.options === undefined) return { ask: 'file', given, prefix: last };
  const all = command.arguments ?? [];
  const argument = all[positionals] ?? (all.at(-1)?.multiple ? all.at(-1) : undefined);
  return argument === undefined ? { candidates: [] } : valueOf(argument, last, given);
}

function valueOf(
  { choices, completes }: Pick<Argument & Option, 'choices' | 'completes'>,
  prefix: string,
  given: Record<string, string>,
): Completion {
  if (choices !== undefined)
    return matching(
      choices.map((word) => ({ word })),
      prefix,
    );
  return completes === undefined ? { candidates: [] } : { ask: completes, given, prefix };
}

function find(flag: string, options: Options): readonly [string, Option] | undefined {
  return Object.entries(options).find(([name, { short }]) => flag === `--${name}` || flag === `-${short}`);
}

function nameOf(option: Option, options: Options): string | undefined {
  return Object.entries(options).find(([, one]) => one === option)?.[0];
}

function optionsOf(options: Options): Candidate[] {
  return [
    ...Object.entries(options).map(([name, { about }]) => ({ word: `--${name}`, about })),
    { word: '--help', about: 'show the help' },
  ];
}

function matching(candidates: readonly Candidate[], prefix: string): Completion {
  return { candidates: candidates.filter(({ word }) => word.startsWith(prefix)) };
}
