/** The output of commands: data for programs, tables and sentences for people. */
import { stringify } from 'yaml';
import { escapeHidden, hidden } from '../../core/model/hidden-text.ts';
import type { Options, Terminal } from './command.ts';
import { logCommand } from './printable.ts';

/** The option `--output` of commands that show data. */
export const outputOption = {
  output: { short: 'o', value: 'FORMAT', choices: ['text', 'json', 'yaml'], about: 'text, json or yaml (default text)' },
} as const satisfies Options;

/** The option `--output` of commands that act on one policy. */
export const namedOutputOption = {
  output: { short: 'o', value: 'FORMAT', choices: ['text', 'json', 'yaml', 'name'], about: 'text, json, yaml or name (default text)' },
} as const satisfies Options;

/** Prints a value for programs or, with the output `text` (or none), this text. */
export function print(terminal: Terminal, output: 'text' | 'json' | 'yaml' | undefined, value: unknown, text: () => string): void {
  if (output === 'json') terminal.out(toJson(value));
  else if (output === 'yaml') terminal.out(toYaml(value));
  else terminal.out(text());
}

/** JSON in which characters that a terminal or a log would interpret are escaped. */
function toJson(value: unknown): string {
  return `${escapeHidden(JSON.stringify(value, undefined, 2)).replaceAll(logCommand, '\\u0023')}\n`;
}

/** YAML, or JSON (which is YAML as well) if YAML would contain unescaped control characters, or commands for the log of a CI system. */
function toYaml(value: unknown): string {
  const text = stringify(value, { aliasDuplicateObjects: false });
  const shown = text.replaceAll('\n', '');
  return shown.search(hidden) >= 0 || text.search(logCommand) >= 0 || /^\s*(?:::|##)/m.test(text) ? toJson(value) : text;
}

/** Pads cells to the widths of their columns, with two spaces between them. */
export function formatTable(rows: readonly (readonly string[])[], widths: readonly number[]): string[] {
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
}

/** Wraps a text to lines of at most `columns` characters, as far as its words allow. */
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
 * Wraps the lines of a text to the width of the terminal, as far as their words allow. The rest of a line follows below it, indented by two more, or as
 * `hanging` says. Names and images are never broken. If the output is no terminal, the text is unchanged.
 */
export function fit(text: string, { columns }: Pick<Terminal, 'columns'>, hanging?: string): string {
  if (!columns) return text;
  return text
    .split('\n')
    .map((line) => {
      // A line with only a link is not wrapped, because a link is easier to follow behind its word.
      if (line.length <= columns || /^see \S+$/.test(line)) return line;
      const indent = /^ */.exec(line)?.[0] ?? '';
      const left = hanging ?? `${indent}  `;
      // The continuation lines have a larger indent than the first line, so they are wrapped again to a smaller width.
      const [first = '', ...others] = wrap(line.slice(indent.length), columns - indent.length);
      const rest = others.length === 0 ? [] : wrap(others.join(' '), columns - left.length);
      return [indent + first.trimEnd(), ...rest.map((part) => left + part)].join('\n');
    })
    .join('\n');
}

/** A number with its noun: `1 policy`, `2 policies`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const secondsOf = { s: 1, m: 60, h: 3_600, d: 86_400, y: 365 * 86_400 } as const;

type Unit = keyof typeof secondsOf;

/** The units of an age below a number of seconds, as Kubernetes chooses them. */
const ageUnits: readonly (readonly [below: number, large: Unit, small?: Unit])[] = [
  [2 * secondsOf.m, 's'],
  [10 * secondsOf.m, 'm', 's'],
  [3 * secondsOf.h, 'm'],
  [8 * secondsOf.h, 'h', 'm'],
  [2 * secondsOf.d, 'h'],
  [8 * secondsOf.d, 'd', 'h'],
  [2 * secondsOf.y, 'd'],
  [8 * secondsOf.y, 'y', 'd'],
  [Infinity, 'y'],
];

/** The time between two moments, as `kubectl get` shows it: `45s`, `5m30s`, `12m`, `3h20m`, `8d`; `0s` for a time in the future, and `-` for an invalid one. */
export function formatAge(from: Date, to: Date): string {
  const seconds = Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1000));
  const [, large, small] = ageUnits.find(([below]) => seconds < below) ?? [];
  if (large === undefined) return '-';
  const rest = small === undefined ? 0 : Math.floor((seconds % secondsOf[large]) / secondsOf[small]);
  return `${Math.floor(seconds / secondsOf[large])}${large}${rest === 0 ? '' : `${rest}${small}`}`;
}
