import { styleText } from 'node:util';
import { printable } from '../../service/command-line/printable.ts';
import type { LintProblem, LintResult } from './lint-text.ts';

/** The path that is shown for policies from the cluster. */
export const clusterPath = '(cluster)';

/** A file, and the result of linting it. */
export interface LintedFile extends LintResult {
  readonly path: string;
}

/** The problems and warnings, grouped by file, and a summary. */
export function formatReport(files: readonly LintedFile[], useColour: boolean): string {
  const paint = (format: 'bold' | 'dim' | 'red' | 'green', text: string) =>
    useColour ? styleText(format, text, { validateStream: false }) : text;
  const blocks = files
    .filter(({ problems, warnings = [], notes = [] }) => problems.length + warnings.length + notes.length > 0)
    .map(({ path, problems, warnings = [], notes = [] }) => {
      const line = (kind: string, one: LintProblem) => {
        const position = one.line === undefined ? '' : `${paint('dim', positionOf(path, one))} `;
        return `  ${position}${kind}${describe(one)}`;
      };
      const lines = [
        ...problems.map((problem) => line('', problem)),
        ...warnings.map((warning) => line('warning: ', warning)),
        ...notes.map((note) => line('note: ', note)),
      ];
      return `${paint('bold', printable(path))}\n${lines.join('\n')}\n\n`;
    });
  const summary = summarise(files);
  return `${blocks.join('')}${paint(files.some(({ problems }) => problems.length > 0) ? 'red' : 'green', summary)}\n`;
}

/** A position that terminals and editors open: `web.yaml:12:5`. */
function positionOf(path: string, { line, column }: LintProblem): string {
  return `${printable(path)}:${line}:${column}`;
}

function describe({ policy, field, message }: LintProblem): string {
  const subject = [policy, field].filter((part) => part !== undefined).join(' ');
  return printable(subject === '' ? message : `${subject}: ${message}`);
}

function summarise(files: readonly LintedFile[]): string {
  const sum = (count: (file: LintedFile) => number) => files.reduce((total, file) => total + count(file), 0);
  const others = sum((file) => file.others);
  const problems = sum((file) => file.problems.length);
  const isCluster = files.some(({ path }) => path === clusterPath);
  const checked = `${plural(
    sum((file) => file.policies),
    'policy',
    'policies',
  )} in ${isCluster ? 'the cluster' : plural(files.length, 'file')}`;
  const rest = others === 0 ? '' : ` (${plural(others, 'document')} of other kinds skipped)`;
  const warnings = sum(({ warnings = [] }) => warnings.length);
  const notes = sum((file) => file.notes?.length ?? 0);
  const found = [
    problems === 0 ? 'nothing is wrong' : plural(problems, 'problem'),
    ...(warnings === 0 ? [] : [plural(warnings, 'warning')]),
    ...(notes === 0 ? [] : [plural(notes, 'note')]),
  ];
  return `${checked}: ${found.join(', ')}${rest}`;
}

function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
