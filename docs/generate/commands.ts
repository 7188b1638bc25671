import { commands as entries } from '../../src/cli/index.ts';
import { helpOption, type Command, type Option } from '../../src/service/command-line/command.ts';
import { policyArgument } from '../../src/service/command-line/policy-client.ts';
import { code } from './markdown.ts';
import type { Parts } from './template.ts';

const commands = await Promise.all(entries.map(({ load }) => load()));

/** Options of at least so many commands are described once. */
const manyCommands = 3;
/** Those of every command, and of every command that asks a cluster: the page names them once. */
const everywhere: ReadonlySet<string> = new Set(['kubeconfig', 'context', 'color', 'help']);

/** The parts of docs/templates/command-line.md and commands.md. */
export const commandParts: Parts = {
  commands: () => commands.map(({ name, summary }) => `- [${code(name)}](commands.md#${name}): ${summary}`).join('\n'),
  'shared-options': () => listOf([...shared, ['help', helpOption] as const]),
  help: () => commands.map((command) => `### ${command.name}\n\n${sectionOf(command)}`).join('\n\n'),
};

/** By name: the text that most commands have, if at least `manyCommands` have it. A group counts once. */
export const shared: ReadonlyMap<string, Option> = new Map(
  [...sharedBy(commands, manyCommands)].toSorted(([a], [b]) => Number(everywhere.has(a)) - Number(everywhere.has(b))),
);

function sectionOf({ name, commands: members, ...command }: Command): string {
  if (members === undefined) return pageOf({ name, ...command }, new Map());
  const ofGroup = new Map([...sharedBy(members, 2)].filter(([long, option]) => !isShared(long, option)));
  const heading = `These options are of several ${code(name)} commands:`;
  return [...(ofGroup.size > 0 ? [heading, listOf(ofGroup)] : []), ...members.map((member) => pageOf(member, ofGroup))].join('\n\n');
}

/** The help of a command without the options that are described elsewhere, and the names of those. */
function pageOf({ options = {}, help }: Command, ofGroup: ReadonlyMap<string, Option>): string {
  const elsewhere = Object.entries(options).flatMap(([long, option]) =>
    isShared(long, option) || isSame(long, option, ofGroup.get(long)) ? [long] : [],
  );
  const text = help(undefined, { without: [...elsewhere, ...everywhere, policyArgument.name], examples: 1 });
  const named = elsewhere.filter((long) => !everywhere.has(long)).map((long) => code(`--${long}`));
  return `\`\`\`text\n${text.trim()}\n\`\`\`${named.length > 0 ? `\n\nAlso ${named.join(', ')}.` : ''}`;
}

function isShared(long: string, option: Option): boolean {
  return isSame(long, option, shared.get(long));
}

/** The options that at least `least` of these commands have with the same text; of two texts of one option, the one of more commands. */
function sharedBy(among: readonly Command[], least: number): ReadonlyMap<string, Option> {
  const found = new Map<string, { long: string; option: Option; owners: Set<string> }>();
  for (const command of among)
    for (const { options = {} } of command.commands ?? [command])
      for (const [long, option] of Object.entries(options)) {
        const text = textOf(long, option);
        const entry = found.get(text) ?? { long, option, owners: new Set() };
        entry.owners.add(command.name);
        found.set(text, entry);
      }
  const most = [...found.values()].filter(({ owners }) => owners.size >= least).toSorted((a, b) => a.owners.size - b.owners.size);
  return new Map(most.map(({ long, option }) => [long, option]));
}

function listOf(options: Iterable<readonly [long: string, option: Option]>): string {
  return [...options].map(([long, option]) => `- ${code(flagsOf(long, option))}: ${option.about}`).join('\n');
}

function isSame(long: string, option: Option, other: Option | undefined): boolean {
  return other !== undefined && textOf(long, option) === textOf(long, other);
}

function textOf(long: string, option: Option): string {
  return `${flagsOf(long, option)}: ${option.about}`;
}

/** `-n, --namespace NAMESPACE`. */
function flagsOf(long: string, { short, value }: Option): string {
  return `${short === undefined ? '' : `-${short}, `}--${long}${value === undefined ? '' : ` ${value}`}`;
}
