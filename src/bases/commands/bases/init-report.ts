/** The output of `bases init`: YAML with comments, and an overview for people. Pure. */
import { formatRepository, type Repository } from '../../../core/model/image-reference.ts';
import { consentAnnotation } from '../../../core/model/consent-annotation.ts';
import { paintFor, type Terminal } from '../../../service/command-line/command.ts';
import { countOf, fit, formatTable } from '../../../service/command-line/output.ts';
import { formatPolicies } from '../../../service/command-line/policy-documents.ts';
import { printable } from '../../../service/command-line/printable.ts';
import type { MissingConsents } from './missing-consents.ts';
import type { LeftOutImage, LineProposal } from './propose-lines.ts';

/** A proposed policy, and the consents that it lacks. */
export interface Proposed extends LineProposal {
  readonly missing: MissingConsents;
}

export interface InitReport {
  readonly base: Repository;
  readonly policies: readonly Proposed[];
  readonly leftOut: readonly LeftOutImage[];
  /** How many images are not built on the base. */
  readonly unrelated: number;
  /** How many tags of the base were not compared. */
  readonly uncompared: number;
}

const maxNamed = 5;

/** The proposed policies as YAML for `kubectl apply`. Comments say why, what they would find, and what comes next. */
export function formatLines({ base, policies, leftOut, unrelated, uncompared }: InitReport): string {
  const name = formatRepository(base);
  const remarks = [
    ...(policies.length === 0 ? [] : ['These policies only report: nothing is changed, pushed or requested when they are applied.']),
    `${countOf(unrelated, 'image')} not built on ${name}: not listed.`,
    ...(uncompared === 0
      ? []
      : [`${countOf(uncompared, 'tag')} of the base not compared, so images on them are not recognized: see --tags.`]),
    ...leftOut.map((one) => `Left out: ${describeLeftOut(one)}`),
  ];
  return formatPolicies(
    policies.map((one) => ({ ...one, notes: notesOf(one, base) })),
    remarks,
  );
}

function notesOf({ policy, notes, selects, images, missing, repositories }: Proposed, base: Repository): string[] {
  const { current, behind } = images;
  const { namespace } = policy.metadata;
  return [
    `Selects now: ${selects}. ${notes.join(' ')}`,
    `${countOf(current.length, 'image')} on it, ${behind.length} behind${behind.length === 0 ? '' : `: ${some(behind)}`}.`,
    ...(missing.workloads === 0 ? [] : [describeMissing(missing, namespace)]),
    ...describeNext(repositories, base, namespace),
  ];
}

function describeMissing({ namespaces, workloads }: MissingConsents, from: string): string {
  const list = namespaces.join(', ');
  return `It does not see ${countOf(workloads, 'workload')} without consent, in ${list}: add {policiesFrom: ${from}, namespaces: [${list}]} to consents in the configuration, or have their owners write the annotation ${consentAnnotation}: ${from}.`;
}

/** What to add for more than reports. Images in other registries than the base cannot be rebased. */
function describeNext(repositories: readonly Repository[], base: Repository, from: string): string[] {
  const [near, far] = [true, false].map((isSame) =>
    namesOf(repositories.filter(({ registry }) => (registry === base.registry) === isSame)),
  );
  const rebuild = 'add a trigger that has CI build them anew (docs/rebuilds.md)';
  return [
    ...(near === undefined || near.length === 0
      ? []
      : [
          `Next: to rebase what is behind, add onNewBase: [{rebase: {}}] here, and {policiesFrom: ${from}, push: [${patternsOf(near).join(', ')}]} to consents in the configuration (docs/rebase.md); for images that must be built again, ${rebuild}.`,
        ]),
    ...(far === undefined || far.length === 0 ? [] : [`In another registry than the base, and not rebased: ${some(far)}; ${rebuild}.`]),
  ];
}

function namesOf(repositories: readonly Repository[]): string[] {
  return [...new Set(repositories.map(formatRepository))].toSorted();
}

/** The repositories; of many, their folders. */
function patternsOf(names: readonly string[]): readonly string[] {
  if (names.length <= maxNamed) return names;
  return [...new Set(names.map((name) => (name.split('/').length > 2 ? name.replace(/\/[^/]*$/, '/*') : name)))];
}

function some(names: readonly string[]): string {
  const more = names.length - maxNamed;
  return `${names.slice(0, maxNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function describeLeftOut({ image, workloads, why }: LeftOutImage): string {
  return `${image} of ${some(workloads)}: ${why}`;
}

/** A table of the policies, and the images that are left out. */
export function formatOverview({ policies, leftOut }: InitReport, terminal: Terminal): string {
  const paint = paintFor(terminal);
  const rows = policies.map(({ policy: { metadata }, selects, images, missing }) => [
    `${metadata.namespace}/${metadata.name}`,
    selects,
    `${images.current.length}`,
    `${images.behind.length}`,
    missing.workloads === 0 ? '-' : missing.namespaces.join(', '),
  ]);
  const table = [['POLICY', 'SELECTS', 'CURRENT', 'BEHIND', 'CONSENT MISSING'], ...rows].map((row) => row.map((cell) => printable(cell)));
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = rows.length === 0 ? [] : formatTable(table, widths).map((line) => line.trimEnd());
  const out = leftOut.map((one) => paint('dim', fit(printable(`left out: ${describeLeftOut(one)}`), terminal)));
  return [...lines, ...out].map((line) => `${line}\n`).join('');
}

/** A summary: `2 policies for 51 images; 6 images left out, 4 not built on the base`. */
export function summarizeLines({ policies, leftOut, unrelated }: InitReport): string {
  const images = policies.reduce((sum, { images: { current, behind } }) => sum + current.length + behind.length, 0);
  return `${countOf(policies.length, 'policy', 'policies')} for ${countOf(images, 'image')}; ${countOf(leftOut.length, 'image')} left out, ${unrelated} not built on the base`;
}
