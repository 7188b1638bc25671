import { families } from '../../test/peers/families/index.ts';
import { readCases, readDifferences, sources, type Case, type Difference } from '../../test/peers/family.ts';
import { code, table } from './markdown.ts';
import type { Parts } from './template.ts';

/** The parts of docs/templates/differences.md. */
export const differencesParts: Parts = {
  summary,
  differences: (ids) => tableOf(ids.split(' ').flatMap(read), 'by-design'),
  planned: () => tableOf(allIds.flatMap(read), 'planned'),
  sources: () =>
    table(
      ['Project', 'Version', 'Licence'],
      Object.values(sources).map(({ project, version, licence }) => [project, version, licence]),
    ),
};

/** A difference with the cases in which it shows, whichever tables they are in. */
interface Entry extends Omit<Difference, 'cases'> {
  readonly cases: readonly (Case & { readonly ours: unknown })[];
}

const allIds = families.map(({ id }) => id);
const maxAnswer = 60;

function read(id: string): Entry[] {
  const cases = readCases(id);
  return readDifferences(id).map((difference) => ({
    ...difference,
    cases: cases.filter((one) => Object.hasOwn(difference.cases, one.id)).map((one) => ({ ...one, ours: difference.cases[one.id] })),
  }));
}

function summary(): string {
  const all = allIds.reduce((sum, id) => sum + readCases(id).length, 0);
  const entries = allIds.flatMap(read);
  const planned = count(entries.filter(({ kind }) => kind === 'planned'));
  const meant = count(entries) - planned;
  return `Of ${all} cases, ${all - meant - planned} have the same result, ${meant} differ by design, and ${planned} are [to be changed](#planned).`;
}

function count(entries: readonly Entry[]): number {
  return entries.reduce((sum, { cases }) => sum + cases.length, 0);
}

function tableOf(entries: readonly Entry[], kind: Entry['kind']): string {
  const merged = new Map<string, Entry>();
  for (const entry of entries.filter((one) => one.kind === kind)) {
    const { title } = entry;
    merged.set(title, { ...entry, cases: [...(merged.get(title)?.cases ?? []), ...entry.cases] });
  }
  if (merged.size === 0) return 'None.';
  return table(
    ['Here', 'Why', 'Instead', 'Other than', 'For example'],
    [...merged.values()].map(({ title, why, instead = '', cases }) => [title, why, instead, projectsOf(cases), exampleOf(cases)]),
  );
}

function projectsOf(cases: Entry['cases']): string {
  const names = cases.map(({ source }) => Object.entries(sources).find(([start]) => source.startsWith(start))?.[1].name ?? source);
  return [...new Set(names)].join(', ');
}

function exampleOf(cases: Entry['cases']): string {
  const [first] = cases;
  if (first === undefined) return '';
  const more = cases.length === 1 ? '' : ` (${cases.length} cases)`;
  return `${code(shorten(first.id))}: there ${answer(first.expected)}, here ${answer(first.ours)}${more}`;
}

function answer(value: unknown): string {
  return code(shorten(JSON.stringify(value)));
}

function shorten(text: string): string {
  return text.length <= maxAnswer ? text : `${text.slice(0, maxAnswer)}…`;
}
