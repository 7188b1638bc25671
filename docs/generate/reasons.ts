import { conditions } from '../explanations/conditions.ts';
import type { Explanation } from '../explanations/explanation.ts';
import { explanations, reasonSections } from '../explanations/reasons.ts';
import { reasons, type Reason } from '../../src/core/model/reasons.ts';
import { code, table } from './markdown.ts';
import type { Parts } from './template.ts';

/** The pages below docs/reasons/, with the sections of docs/explanations/reasons.ts that are on them. */
const pages: Readonly<Record<string, readonly string[]>> = {
  pushes: ['inOrder', 'ignoredEvents', 'unchanged'],
  updates: ['rollouts', 'blocked', 'ofBases'],
  problems: ['problems', 'findings', 'temporary'],
};

/** The page of each anchor: that of a reason is the reason in lower case. */
const pageOfAnchor: ReadonlyMap<string, string> = new Map([
  ...keysOf(conditions).map((type) => [conditionAnchor(type), 'conditions'] as const),
  ...Object.entries(pages).flatMap(([page, sections]) =>
    sections.flatMap((name) => reasonsIn(name).map((reason) => [reason.toLowerCase(), page] as const)),
  ),
]);

/** The parts of docs/templates/reasons.md, whose rows have the anchors that never change, and of docs/templates/reasons/. */
export const reasonParts: Parts = {
  'condition-index': () =>
    index(
      'Condition',
      keysOf(conditions).map((type) => [type, conditionAnchor(type), conditions[type].meaning]),
    ),
  /** `{{index blocked}}`: the reasons of one section, each with a link to its explanation. */
  index: (name) =>
    index(
      'Reason',
      reasonsIn(name).map((reason) => [reason, reason.toLowerCase(), sentence(reasons[reason])]),
    ),
  conditions: () =>
    keysOf(conditions)
      .map((type) => section(`Condition ${type}`, conditions[type].meaning, conditions[type]))
      .join('\n\n'),
  /** `{{reasons blocked}}`: the explanations of one section. */
  reasons: (name) =>
    reasonsIn(name)
      .map((reason) => section(reason, sentence(reasons[reason]), explanations[reason]))
      .join('\n\n'),
};

/** An explanation as it is on a page of this folder below docs/: texts link to `#reason`, and to other pages from docs/. */
export function linkedFrom(folder: '' | 'reasons/', text: string): string {
  return text
    .replaceAll(/\]\((?=[\w/-]+\.md)/g, folder === '' ? '](' : '](../')
    .replaceAll(/\]\(#([\w-]+)\)/g, (_, anchor: string) => `](${linkTo(anchor, folder)})`);
}

function linkTo(anchor: string, folder: '' | 'reasons/' = ''): string {
  const page = pageOfAnchor.get(anchor);
  if (page === undefined) throw new Error(`docs/explanations: there is no condition or reason #${anchor}`);
  return `${folder === '' ? 'reasons/' : ''}${page}.md#${anchor}`;
}

function index(heading: string, rows: readonly (readonly [name: string, anchor: string, meaning: string])[]): string {
  return table(
    [heading, 'Meaning'],
    rows.map(([name, anchor, meaning]) => [`<a id="${anchor}"></a>[${code(name)}](${linkTo(anchor)})`, meaning]),
  );
}

function section(heading: string, meaning: string, { shown, cause, action }: Explanation): string {
  const text = `### ${heading}\n\n${meaning}\n\n- **Where**: ${shown}\n- **Cause**: ${cause}\n- **What to do**: ${action}`;
  return linkedFrom('reasons/', text);
}

function reasonsIn(name: string): Reason[] {
  const found = reasonSections[name];
  if (found === undefined) throw new Error(`docs/explanations/reasons.ts has no section "${name}"`);
  return keysOf(found);
}

function conditionAnchor(type: string): string {
  return `condition-${type.toLowerCase()}`;
}

function sentence(meaning: string): string {
  return `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`;
}

/** The keys with their own type: the lists are constants, which have no others. */
function keysOf<T extends object>(list: T): Extract<keyof T, string>[] {
  return Object.keys(list) as Extract<keyof T, string>[];
}
