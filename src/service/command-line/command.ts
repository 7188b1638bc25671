/** The definition of a command as data, from which its arguments are parsed, and its help and completion are made. Only this module imports commander. */
import { Command as Parser, CommanderError, Option as ParserOption } from 'commander';
import { styleText } from 'node:util';
import { didYouMean } from '../../core/model/did-you-mean.ts';
import { UsageError } from './usage-error.ts';

export { UsageError };

/** The input and output of a command. They are not the process's own, so that tests can call commands. */
export interface Terminal {
  /** Whether `err` is a terminal, so that a line can be overwritten. */
  readonly interactive?: boolean;
  /** Reads the standard input to its end. */
  readonly readStandardInput?: () => Promise<string>;
  /** Asks the user one question, and returns the line of the answer; undefined at the end of the input. Present only if input and output are a terminal. */
  readonly ask?: (question: string) => Promise<string | undefined>;
  /** Whether `out` is a terminal with colours. */
  readonly hasColours?: boolean;
  /** How the user calls the program: `kubectl image-watcher` as a plugin; `image-watcher` unless given. */
  readonly program?: string;
  /** The width of the terminal; absent if `out` is no terminal. */
  readonly columns?: number | undefined;
  /** Ends commands that run until they are interrupted. */
  readonly signal?: AbortSignal;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export interface Command {
  /** The name of the command, after the name of its group: `crd apply`. */
  readonly name: string;
  /** One line about the command for the overview. */
  readonly summary: string;
  /** The page for `--help`, for a program with this name. With `parts`, only the parts that a page about all commands shows. */
  readonly help: (program?: string, parts?: HelpParts) => string;
  readonly options?: Options;
  readonly arguments?: readonly Argument[];
  /** The commands of a group; absent for a single command. A command that also runs by itself is the first of them. */
  readonly commands?: readonly Command[];
  /** Runs the command. Returns the exit code: 0 success, 1 failure or a negative result. Throws UsageError for wrong usage (2). */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

/** The parts of a command's help that a page about all commands shows. */
export interface HelpParts {
  /** The arguments, and the long names of options, that are left out because the page describes them once for all commands. */
  readonly without: readonly string[];
  readonly examples: number;
}

/** A command that may not be loaded yet. */
export interface CommandEntry extends Pick<Command, 'name' | 'summary'> {
  readonly load: () => Promise<Command>;
}

/** The values that completion offers. */
export type Completed = 'policy' | 'namespace' | 'context' | 'file';

/** An option; without `value` it is a switch. */
export interface Option {
  readonly about: string;
  readonly short?: string;
  /** The placeholder for the option's value in the help. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** Whether the option may be given several times. */
  readonly multiple?: true;
  readonly completes?: Completed;
}

export type Options = Readonly<Record<string, Option>>;

/** The values of options, by name. */
export type Values<T extends Options> = { readonly [Name in keyof T]?: ValueOf<T[Name]> | undefined };

type ValueOf<T extends Option> = T extends { multiple: true }
  ? readonly string[]
  : T extends { choices: readonly (infer Choice)[] }
    ? Choice
    : T extends { value: string }
      ? string
      : boolean;

/** An argument without a name. */
export interface Argument {
  /** The argument's name in the help: POLICY. */
  readonly name: string;
  readonly about: string;
  /** The message if the argument is missing; without it, the argument is optional. */
  readonly missing?: string;
  /** Whether any number of values may be given. */
  readonly multiple?: true;
  readonly choices?: readonly string[];
  readonly completes?: Completed;
}

/** The definition of a command, from which it is built. */
export interface Definition<T extends Options> extends Pick<Command, 'name' | 'summary'> {
  /** What the command does, what it needs, and its exit codes: paragraphs, with an empty line between them. */
  readonly about: string;
  readonly arguments?: readonly Argument[];
  readonly options: T;
  /** Options that users may expect here, and what the message adds to "there is no option --name". */
  readonly instead?: Readonly<Record<string, string>>;
  /** Examples: command lines without the program's name, each with what it does. */
  readonly examples: readonly (readonly [line: string, about: string])[];
  run(values: Values<T>, args: readonly string[], terminal: Terminal): number | Promise<number>;
}

/** The name with which users call the program. */
export const programName = 'image-watcher';
/** The maximum width of the help, in characters. */
const helpWidth = 80;

const everywhere = {
  color: {
    value: 'WHEN',
    choices: ['auto', 'always', 'never'],
    about: 'colours: auto (on a terminal, unless NO_COLOR is set), always or never',
  },
} as const satisfies Options;

/** The option `--help` of every command. */
export const helpOption = { short: 'h', about: 'show this help' } as const satisfies Option;

export function defineCommand<T extends Options>(definition: Definition<T>): Command {
  const { name, summary } = definition;
  const options: Options = { ...definition.options, ...everywhere };
  const shown = definition.arguments ?? [];
  return {
    name,
    summary,
    options,
    arguments: shown,
    help(program = programName, { without, examples: count } = { without: [], examples: definition.examples.length }) {
      const named = Object.fromEntries(Object.entries(options).filter(([long]) => !without.includes(long)));
      const kept = shown.map((argument) => (without.includes(argument.name) ? { ...argument, about: '' } : argument));
      const parser = createParser({ ...definition, arguments: kept, options: named }, program);
      if (without.includes('help')) parser.helpOption(false);
      const examples = definition.examples.slice(0, count).map(([line, what]) => `  # ${what}\n  ${program} ${line}\n`);
      return `${parser.helpInformation()}\n${count === 1 ? 'Example' : 'Examples'}:\n${examples.join('')}`;
    },
    async run(args, terminal) {
      try {
        const parsed = parse(args, { ...definition, options });
        if (parsed === 'help') {
          terminal.out(this.help(terminal.program));
          return 0;
        }
        checkArguments(name, parsed.args, shown);
        const { color, ...values } = parsed.values as Values<typeof everywhere>;
        const hasColours = color === undefined || color === 'auto' ? (terminal.hasColours ?? false) : color === 'always';
        return await definition.run(values, parsed.args, { ...terminal, hasColours });
      } catch (error) {
        if (error instanceof UsageError) error.command ??= name;
        throw error;
      }
    },
  };
}

/** Builds a command that has commands of its own: `crd print`, `crd apply`. */
export function defineGroup({
  name,
  summary,
  about,
  commands,
}: Pick<Command, 'name' | 'summary'> & { about: string; commands: readonly Command[] }): Command {
  const names = commands.map((command) => command.name.slice(name.length + 1));
  return {
    name,
    summary,
    commands,
    help(program = programName) {
      const parser = new Parser(`${program} ${name}`)
        .description(about)
        .usage('COMMAND [OPTIONS]')
        .helpOption('-h, --help', helpOption.about);
      for (const command of commands) parser.addCommand(new Parser(command.name.slice(name.length + 1)).description(command.summary));
      return `${configureHelp(parser).helpCommand(false).helpInformation()}\nRun ${program} ${name} COMMAND --help for details.\n`;
    },
    async run([first, ...rest], terminal) {
      if (first === '--help' || first === '-h' || first === 'help') {
        terminal.out(this.help(terminal.program));
        return 0;
      }
      const command = commands[names.indexOf(first ?? '')];
      if (command !== undefined) return command.run(rest, terminal);
      const all = names.map((one) => `"${name} ${one}"`);
      const use = all.length > 1 ? `${all.slice(0, -1).join(', ')} or ${all.at(-1)}` : all.join('');
      if (first === undefined) throw new UsageError(`use ${use}`);
      throw new UsageError(`there is no command "${name} ${first}"${didYouMean(first, names) || `; use ${use}`}`);
    },
  };
}

type Shape = Pick<Definition<Options>, 'name' | 'about' | 'arguments' | 'options' | 'instead'>;

function createParser({ name, about, options, ...rest }: Shape, program = programName): Parser {
  const parser = new Parser(`${program} ${name}`)
    .description(about)
    .allowExcessArguments()
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .helpOption('-h, --help', helpOption.about);
  for (const argument of rest.arguments ?? []) {
    const inside = `${argument.name}${argument.multiple ? '...' : ''}`;
    parser.argument(`[${inside}]`, argument.about);
  }
  for (const [long, option] of Object.entries(options)) parser.addOption(optionOf(long, option));
  parser.usage(['[OPTIONS]', ...(rest.arguments ?? []).map(usageOf)].join(' '));
  return configureHelp(parser);
}

function usageOf({ name, missing, multiple }: Argument): string {
  const inside = `${name}${multiple ? '...' : ''}`;
  return missing === undefined ? `[${inside}]` : inside;
}

function optionOf(long: string, { short, value, about, multiple }: Option): ParserOption {
  const flags = `${short === undefined ? '' : `-${short}, `}--${long}${value === undefined ? '' : ` <${value}>`}`;
  const option = new ParserOption(flags, about);
  return multiple ? option.argParser((text: string, before: readonly string[] | undefined) => [...(before ?? []), text]) : option;
}

/** Formats the lines of the help as GNU programs and kubectl do: `-n, --namespace NAME`. */
function configureHelp(parser: Parser): Parser {
  return parser.configureHelp({
    helpWidth,
    optionTerm: ({ flags }) => (flags.startsWith('--') ? `    ${flags}` : flags).replaceAll(/[<>]/g, ''),
    subcommandTerm: (command) => command.name(),
    // Descriptions that contain tables are not wrapped.
    minWidthToWrap: 20,
  });
}

type Parsed = { readonly values: Readonly<Record<string, unknown>>; readonly args: readonly string[] };

function parse(args: readonly string[], shape: Shape): Parsed | 'help' {
  const parser = createParser(shape);
  try {
    parser.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return 'help';
    throw new UsageError(describeParseError(error, shape), { cause: error });
  }
  const given = parser.opts<Record<string, unknown>>();
  const values = parser.options.flatMap((option) => {
    const value = given[option.attributeName()];
    // commander has one value for --wait and --no-wait.
    const isGiven = option.negate ? value === false : value !== undefined && value !== false;
    return isGiven ? [[(option.long ?? '').slice('--'.length), option.negate ? true : value] as const] : [];
  });
  for (const [name, value] of values) checkChoice(`--${name}`, value, shape.options[name]?.choices);
  return { values: Object.fromEntries(values), args: parser.args };
}

/** Describes a parse error. commander quotes the option: `error: unknown option '--limt'`, `error: option '-o, --output <FORMAT>' argument missing`. */
function describeParseError({ code, message }: CommanderError, { options, instead = {} }: Shape): string {
  const [, quoted = ''] = /'([^']*)'/.exec(message) ?? [];
  if (code === 'commander.optionMissingArgument') return `${/--[^\s]+/.exec(quoted)?.[0] ?? quoted} needs a value`;
  if (code !== 'commander.unknownOption') return message.replace(/^error: /, '');
  const [name = ''] = quoted.split('=');
  if (name.startsWith('--') && Object.hasOwn(options, name.slice('--'.length))) return `${name} takes no value`;
  const known = Object.entries(options).flatMap(([long, { short }]) => [`--${long}`, ...(short === undefined ? [] : [`-${short}`])]);
  // An option of one letter gets no suggestion, because any other letter is equally similar.
  return `there is no option ${quoted}${instead[name] ?? (quoted.length > 2 ? didYouMean(quoted, known) : '')}`;
}

function checkArguments(command: string, args: readonly string[], shown: readonly Argument[]): void {
  const missing = shown[args.length]?.missing;
  if (missing !== undefined) throw new UsageError(missing);
  if (args.length > shown.length && !shown.at(-1)?.multiple) {
    const extra = args.slice(shown.length).join(' ');
    const [only] = shown;
    throw new UsageError(
      only === undefined
        ? `${command} takes no arguments: ${extra}`
        : `${command} takes ${shown.map(({ name }) => name).join(' and ')} only, and does not know what to do with "${extra}"`,
    );
  }
  for (const [index, text] of args.entries()) checkChoice(shown[index]?.name ?? '', text, shown[index]?.choices);
}

function checkChoice(name: string, value: unknown, choices: readonly string[] | undefined): void {
  if (typeof value !== 'string' || choices === undefined || choices.includes(value)) return;
  throw new UsageError(`${name} is ${listOf(choices)}, not "${value}"${didYouMean(value, choices)}`);
}

/** Joins words as in a sentence: `a, b or c`. */
export function listOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** Paints texts for a terminal with colours; without colours, returns the text unchanged. */
export function paintFor({ hasColours = false }: Terminal) {
  return (format: Parameters<typeof styleText>[0], text: string): string =>
    hasColours ? styleText(format, text, { validateStream: false }) : text;
}
