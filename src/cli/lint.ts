import { readFile } from 'node:fs/promises';
import { describeError } from '../model/errors.ts';
import { readConfig, registryAliases } from '../config.ts';
import { processSource } from '../config/environment.ts';
import { defineCommand, type Terminal } from './command.ts';
import { findFiles, type FoundFile } from './lint/find-files.ts';
import { formatReport, type LintedFile } from './lint/format-report.ts';
import { lintText } from './lint/lint-text.ts';
import { withSharedWarnings } from './lint/shared-warnings.ts';
import { outputOption, print } from './output.ts';
import { printable } from './printable.ts';
import { summaries } from './summaries.ts';

/** `image-watcher lint FILE…`. */
export const lint = defineCommand({
  name: 'lint',
  summary: summaries.lint,
  about: `Checks every ImagePolicy and BaseImagePolicy in the files: its shape, the rules that the API server checks, and what only the service can check, such as version ranges and patterns. Unknown fields are problems too: the API server would drop them. A valid spec that is probably a mistake is a warning, as are two policies that would change the same container; Deployments and other workloads of the files are read for that. Objects of other kinds are skipped.

Exit codes: 0 no problems, 1 problems, 2 a file cannot be read, or there is no policy in any of them.`,
  arguments: [
    {
      name: 'FILE',
      about:
        'YAML or JSON, any number of documents and lists; a folder means all .yaml, .yml and .json files in it (except in hidden folders and node_modules), and - the standard input',
      missing: 'name the files or folders to check, or - for the standard input',
      multiple: true,
      completes: 'file',
    },
  ],
  options: {
    config: {
      value: 'FILE',
      completes: 'file',
      about:
        'the configuration of the service, for the fields of custom resources that it allows (customTargets); only the built-in ones unless given',
    },
    ...outputOption,
  },
  examples: [
    ['lint policies/', 'every manifest of a folder'],
    ['lint -', 'the standard input'],
  ],
  async run({ output, config }, paths, terminal) {
    const operator = config === undefined ? undefined : readOperator(config);
    const { files, unreadable } = await findFiles(paths);
    const failed = [...unreadable];
    const linted: LintedFile[] = [];
    for (const file of files) {
      const result = await lintFile(file, terminal, operator);
      if ('message' in result) failed.push(result);
      else linted.push(result);
    }
    const all = withSharedWarnings(linted, operator?.aliases ?? new Map());
    report(all, failed, paths, output, terminal);
    if (failed.length > 0) return 2;
    if (linted.every(({ policies, problems }) => policies === 0 && problems.length === 0)) return 2;
    return linted.some(({ problems }) => problems.length > 0) ? 1 : 0;
  },
});

interface Failure {
  readonly path: string;
  readonly message: string;
}

type Operator = Parameters<typeof lintText>[1];

function readOperator(file: string): Operator {
  const config = readConfig(processSource(file));
  return { customTargets: config.customTargets, aliases: registryAliases(config) };
}

async function lintFile({ path, isNamed }: FoundFile, terminal: Terminal, operator: Operator): Promise<LintedFile | Failure> {
  try {
    const text = path === '-' ? await readInput(terminal) : await readFile(path, 'utf8');
    const result = lintText(text, operator);
    // Folders also contain templates and other files that are not YAML.
    const isOurs = isNamed || result.policies > 0 || text.includes('ImagePolicy');
    const { problems, ...rest } = result;
    return { ...rest, path: path === '-' ? '(standard input)' : path, problems: isOurs ? problems : [] };
  } catch (error) {
    return { path, message: describeError(error) };
  }
}

async function readInput({ readStandardInput }: Terminal): Promise<string> {
  if (readStandardInput === undefined) throw new Error('there is no standard input');
  return readStandardInput();
}

function report(
  files: readonly LintedFile[],
  failed: readonly Failure[],
  paths: readonly string[],
  output: 'text' | 'json' | 'yaml' | undefined,
  terminal: Terminal,
): void {
  for (const { path, message } of failed) terminal.err(`${printable(path)}: cannot be read: ${printable(message)}\n`);
  const count = (pick: (file: LintedFile) => number) => files.reduce((total, file) => total + pick(file), 0);
  const policies = count((file) => file.policies);
  const problems = files.flatMap((file) => file.problems.map((problem) => ({ file: file.path, ...problem })));
  if (output === 'json' || output === 'yaml') {
    const warnings = files.flatMap(({ path, warnings = [] }) => warnings.map((warning) => ({ file: path, ...warning })));
    const found = { problems, ...(warnings.length > 0 && { warnings }) };
    const summary = { files: files.length, policies, others: count((file) => file.others), ...found, unreadable: failed };
    print(terminal, output, summary, () => '');
  } else if (policies > 0 || problems.length > 0) {
    terminal.out(formatReport(files, terminal.hasColours ?? false));
  }
  if (policies === 0 && failed.length === 0) terminal.err(`there is no ImagePolicy or BaseImagePolicy in ${printable(paths.join(', '))}\n`);
}
