/** What commands print: data for programs, tables and sentences for people. */
import { stringify } from 'yaml';
import type { Options, Terminal } from './command.ts';
import { hidden } from './printable.ts';

/** `--output` of commands that show data. */
export const outputOption = {
  output: { short: 'o', value: 'FORMAT', choices: ['text', 'json', 'yaml'], about: 'text, json or yaml (default text)' },
} as const satisfies Options;

/** `--output` of commands that act on one policy. */
export const namedOutputOption = {
  output: { short: 'o', value: 'FORMAT', choices: ['text', 'json', 'yaml', 'name'], about: 'text, json, yaml or name (default text)' },
} as const satisfies Options;

/** Prints a value for programs; with `text` (or nothing), that text instead. */
export function print(terminal: Terminal, output: 'text' | 'json' | 'yaml' | undefined, value: unknown, text: () => string): void {
  if (output === 'json') terminal.out(toJson(value));
  else if (output === 'yaml') terminal.out(toYaml(value));
  else terminal.out(text());
}

/** JSON may have any character as an escape. */
function toJson(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2).replaceAll(hidden, (characters) =>
    characters === '\n'
      ? characters
      : Array.from({ length: characters.length }, (_, index) => characters.charCodeAt(index))
          .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
          .join(''),
  );
  return `${text.replaceAll(logCommand, '\\u0023')}\n`;
}

/** What YAML would show as it is, or on a line of its own, is written as JSON, which is YAML as well. */
function toYaml(value: unknown): string {
  const text = stringify(value, { aliasDuplicateObjects: false });
  const shown = text.replaceAll('\n', '');
  return shown.search(hidden) >= 0 || text.search(logCommand) >= 0 || /^\s*(?:::|##)/m.test(text) ? toJson(value) : text;
}

/** Cells padded to the widths of their columns, with two spaces between them. */
export function formatTable(rows: readonly (readonly string[])[], widths: readonly number[]): string[] {
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
}

/** A text in lines of at most `columns` characters, as far as its words allow. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/**
 * A text whose lines fit the terminal, as far as their words allow: what is left of a line follows below it, indented by two more, or as `hanging` says. Names
 * and images are never broken. Where the output is no terminal, the text as it is.
 */
export function fit(text: string, { columns }: Pick<Terminal, 'columns'>, hanging?: string): string {
  if (!columns) return text;
  return text
    .split('\n')
    .map((line) => {
      // A link is easier to follow behind its word.
      if (line.length <= columns || /^see \S+$/.test(line)) return line;
      const indent = /^ */.exec(line)?.[0] ?? '';
      const left = hanging ?? `${indent}  `;
      // What hangs is narrower than the first line.
      const [first = '', ...others] = wrap(line.slice(indent.length), columns - indent.length);
      const rest = others.length === 0 ? [] : wrap(others.join(' '), columns - left.length);
      return [indent + first.trimEnd(), ...rest.map((part) => left + part)].join('\n');
    })
    .join('\n');
}

/** `1 policy`, `2 policies`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** GitHub and Azure DevOps execute it anywhere in a line of a log. */
const logCommand = /#(?=#(?:vso)?\[)/gi;

/** `45s`, `12m`, `3h`, `8d`: the time between two moments, as kubectl shows it. */
export function formatAge(from: Date, to: Date): string {
  const seconds = Math.max(0, Math.round((to.getTime() - from.getTime()) / 1000));
  if (Number.isNaN(seconds)) return '-';
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 2 * 3_600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 2 * 86_400 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
