import { commands as entries } from '../../src/cli/index.ts';
import { table } from './markdown.ts';
import type { Parts } from './template.ts';

const commands = await Promise.all(entries.map(({ load }) => load()));

/** The parts of docs/templates/command-line.md. */
export const commandParts: Parts = {
  commands: () =>
    table(
      ['Command', 'What it does'],
      commands.map(({ name, summary }) => [`[\`${name}\`](#${name})`, summary]),
    ),
  help: () =>
    commands
      .map((command) => {
        const pages = command.commands ?? [command];
        return `### ${command.name}\n\n${pages.map((page) => `\`\`\`text\n${page.help().trim()}\n\`\`\``).join('\n\n')}`;
      })
      .join('\n\n'),
};
