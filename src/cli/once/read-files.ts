import { readFile } from 'node:fs/promises';
import { kind } from '../../api-versions/group.ts';
import { isPolicy } from '../../api-versions/validate.ts';
import { type Config, registryAliases } from '../../config.ts';
import { describeError } from '../../model/errors.ts';
import { fieldsOf } from '../../model/untyped.ts';
import { countOf } from '../output.ts';
import { printable } from '../printable.ts';
import type { Terminal } from '../command.ts';
import { findFiles } from '../lint/find-files.ts';
import { formatReport, type LintedFile } from '../lint/format-report.ts';
import { lintText, objectsIn } from '../lint/lint-text.ts';
import { readDocuments } from '../lint/read-documents.ts';

/** The ImagePolicies of files, checked as `lint` does; what is wrong is printed, and the result is then `invalid`. */
export async function readPolicyFiles(
  paths: readonly string[],
  config: Config,
  terminal: Terminal,
): Promise<readonly unknown[] | 'invalid'> {
  const operator = { customTargets: config.customTargets, aliases: registryAliases(config) };
  const { files, unreadable } = await findFiles(paths);
  const failures = unreadable.map(({ path, message }) => `${path}: cannot be read: ${message}`);
  const wrong: LintedFile[] = [];
  const found: unknown[] = [];
  for (const { path, isNamed } of files) {
    try {
      const text = path === '-' ? await readInput(terminal) : await readFile(path, 'utf8');
      // Folders also contain templates and other files that are not YAML.
      if (!isNamed && !text.includes('ImagePolicy')) continue;
      const linted = lintText(text, operator);
      if (linted.problems.length > 0) wrong.push({ ...linted, path: path === '-' ? '(standard input)' : path });
      for (const document of readDocuments(text))
        if ('value' in document) found.push(...[...objectsIn(document.value)].map(({ value }) => value));
    } catch (error) {
      failures.push(`${path}: cannot be read: ${describeError(error)}`);
    }
  }
  for (const failure of failures) terminal.err(`${printable(failure)}\n`);
  if (wrong.length > 0) terminal.err(formatReport(wrong, terminal.hasColours ?? false));
  if (failures.length + wrong.length > 0) return 'invalid';
  const ofGroup = found.filter(isPolicy);
  const policies = ofGroup.filter((document) => fieldsOf(document)['kind'] === kind);
  const others = ofGroup.length - policies.length;
  if (others > 0) terminal.err(`${countOf(others, 'document')} of other kinds than ${kind} left out: only the service handles them\n`);
  return policies;
}

async function readInput({ readStandardInput }: Terminal): Promise<string> {
  if (readStandardInput === undefined) throw new Error('there is no standard input');
  return readStandardInput();
}
