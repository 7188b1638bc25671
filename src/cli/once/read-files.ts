import { kind } from '../../service/resources/group.ts';
import { isPolicy } from '../../service/resources/validate.ts';
import { type Config, registryAliases } from '../../service/config/settings.ts';
import { fieldsOf } from '../../core/model/untyped.ts';
import type { Terminal } from '../../service/command-line/command.ts';
import { formatReport, type LintedFile } from '../lint/format-report.ts';
import { lintText } from '../lint/lint-text.ts';
import { objectsIn, readDocuments } from '../manifests/read-documents.ts';
import { readTexts } from '../manifests/read-texts.ts';
import { countOf } from '../../service/command-line/output.ts';
import { readGroup } from '../resource-group.ts';
import { printable } from '../../service/command-line/printable.ts';

/** Reads the ImagePolicies of files with the checks of `lint`. Problems are printed, and make the result `invalid`. */
export async function readPolicyFiles(
  paths: readonly string[],
  config: Config,
  terminal: Terminal,
): Promise<readonly unknown[] | 'invalid'> {
  const operator = { customTargets: config.customTargets, aliases: registryAliases(config) };
  const resources = await readGroup();
  const { texts, unreadable } = await readTexts(paths, terminal);
  // Folders also contain templates and other files that are not YAML.
  const ours = texts.filter(({ text, isNamed }) => isNamed || text.includes('ImagePolicy'));
  const linted = ours.map(({ path, text }): LintedFile => ({ ...lintText(text, resources, operator), path }));
  const wrong = linted.filter(({ problems }) => problems.length > 0);
  for (const { path, message } of unreadable) terminal.err(`${printable(path)}: ${printable(message)}\n`);
  if (wrong.length > 0) terminal.err(formatReport(wrong, terminal.hasColours ?? false));
  if (unreadable.length + wrong.length > 0) return 'invalid';
  const documents = ours.flatMap(({ text }) => readDocuments(text)).flatMap((document) => ('value' in document ? [document.value] : []));
  const ofGroup = documents
    .flatMap((document) => [...objectsIn(document)].map(({ value }) => value))
    .filter((value) => isPolicy(value, resources));
  const policies = ofGroup.filter((document) => fieldsOf(document)['kind'] === kind);
  const others = ofGroup.length - policies.length;
  if (others > 0) terminal.err(`${countOf(others, 'document')} of other kinds than ${kind} left out: only the service handles them\n`);
  return policies;
}
