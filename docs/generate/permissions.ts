import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isSeq, parseDocument, type Node } from 'yaml';
import { code, table } from './markdown.ts';
import type { Parts } from './template.ts';

const folder = join(import.meta.dirname, '../../charts/image-watcher/files/permissions');

/** The parts of docs/templates/security.md: `{{permissions work}}` is what one file of the chart grants, and why. */
export const securityParts: Parts = { permissions: (name) => describe(readFileSync(join(folder, `${name}.yaml`), 'utf8'), name) };

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

function describe(yaml: string, name: string): string {
  const document = parseDocument(yaml);
  const { contents } = document;
  if (!isSeq<Node>(contents)) throw new Error(`${name}.yaml is no list of rules`);
  // The comment above the first rule begins with what is said about all of them.
  const [about = '', ...rest] = (contents.items[0]?.commentBefore ?? '').split('\n\n');
  const rows = contents.items.map((item, index) => {
    const why = index === 0 ? rest.join('\n') : item.commentBefore;
    if (!isMap(item) || !why) throw new Error(`${name}.yaml: rule ${index + 1} does not say why`);
    const { apiGroups, resources, resourceNames = [], verbs } = item.toJS(document) as Rule;
    const names = resourceNames.length === 0 ? '' : ` named ${list(resourceNames)}`;
    const groups = apiGroups.map((group) => (group === '' ? 'core' : code(group))).join(', ');
    return [`${list(resources)}${names}`, groups, list(verbs), unwrap(why)];
  });
  return `${unwrap(about)}\n\n${table(['Resources', 'API group', 'Verbs', 'Why'], rows)}`;
}

function list(words: readonly string[]): string {
  return words.map(code).join(', ');
}

function unwrap(comment: string): string {
  return comment
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .trim();
}
