/** The fields of a custom resource that hold a chart: what they are read as, what must not be set beside them, and the object that holds the URL. */
import { parse } from 'semver';
import type { TargetFields } from '../model/image-policy.ts';
import { chartOfSource, chartRepository, tagOfVersion, type ChartFields, type ChartSource } from '../model/oci-chart.ts';
import type { WorkloadView } from '../model/resolve-target.ts';
import { formatWorkload, refOf, type ContainerChange, type FieldChange, type Workload, type WorkloadField } from '../model/workload.ts';
import type { TargetProblem } from './plan-update.ts';

/** The value of a field. Of the fields that a pattern may match, only existing ones were read. */
export function fieldOf({ fields = {} }: Workload, path: string): WorkloadField {
  return (Object.hasOwn(fields, path) ? fields[path] : undefined) ?? { unusable: 'ParentMissing' };
}

/** The fields that take precedence over those of a chart, none of which is set, for the patch to test; or the problem that one is set. */
export function readOverruling({ chart }: TargetFields, workload: Workload): readonly FieldChange[] | { readonly problem: TargetProblem } {
  const changes: FieldChange[] = [];
  for (const path of chart?.overruledBy ?? []) {
    const field = fieldOf(workload, path);
    if ('unusable' in field && field.unusable === 'ParentMissing') continue;
    if ('unusable' in field || (field.value !== null && field.value !== '')) return { problem: overruled(path, workload) };
    changes.push({ path, from: field.value });
  }
  return changes;
}

function overruled(path: string, workload: Workload): TargetProblem {
  const message = `${formatWorkload(workload)}: ${path} is set, and takes precedence over the field that the policy writes: remove it, or name it in fields`;
  return { reason: 'ContainerNotFound', message };
}

/** The texts of the fields by which a resource refers to the object that holds the URL of its chart. */
interface SourceReference {
  readonly kind: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** The object that holds the URL of a chart, if the resource refers to one, and the policy may see it. */
export function findSource(
  { chart }: TargetFields,
  { kind, namespace, name = '' }: SourceReference,
  workload: Workload,
  findWorkload: WorkloadView['findWorkload'],
): Workload | undefined {
  if (chart?.source === undefined || kind !== chart.source.kind) return undefined;
  const found = findWorkload({ apiVersion: chart.source.apiVersion, kind, namespace: namespace || workload.namespace, name });
  return found?.isDeleted === true ? undefined : found;
}

/** The URL of a source of the type `oci`; empty for other types. */
function urlOf(source: Workload, { urlField, typeField }: ChartSource): string {
  const [url, type] = [fieldOf(source, urlField), fieldOf(source, typeField)];
  return 'value' in type && type.value === 'oci' && 'value' in url ? String(url.value ?? '') : '';
}

/** The state in which a source was read. Its generation counts the changes of its spec. */
export function stateOf(source: Workload): NonNullable<ContainerChange['source']> {
  const { uid, generation } = source;
  return { ...refOf(source), uid, generation };
}

// A text that names no OCI repository becomes one that no image has.
const notOci = 'not an OCI repository';

/** What the fields of a chart hold. */
export type HeldChart =
  /** The repository and the tag, as an image is written; the tag is empty if the field is. */
  | { readonly repository: string; readonly tag: string }
  /** Why the fields of the chart hold no single version of an OCI artifact. */
  | { readonly why: string };

/** The texts of the fields of a target, with those that make a chart. */
interface ReadTexts {
  get(part: ChartPart | 'sourceKind'): string | undefined;
}
interface Texts extends ReadTexts {
  set(part: ChartPart, text: string): unknown;
  has(part: ChartPart): boolean;
}
type ChartPart = 'repository' | 'name' | 'tag';

/** Reads the texts of a chart as those of an image: the repository without a scheme and with the name, and the version as its tag. */
export function readChart(texts: Texts, chart: ChartFields, source: Workload | undefined): void {
  const repository = holdsRange(texts, chart) ? undefined : repositoryOf(texts, chart, source);
  texts.set('repository', repository ?? notOci);
  if (texts.has('tag')) texts.set('tag', tagOfVersion(texts.get('tag') ?? ''));
}

function repositoryOf(texts: ReadTexts, chart: ChartFields, source: Workload | undefined): string | undefined {
  const name = texts.get('name') ?? '';
  if (chart.source === undefined) return chartRepository(texts.get('repository') ?? '', name);
  return chartOfSource(source === undefined ? '' : urlOf(source, chart.source), name);
}

/** Whether the field of a version holds another text, which Helm reads as a range, in which it chooses itself. */
function holdsRange(texts: ReadTexts, chart: ChartFields): boolean {
  const version = texts.get('tag') ?? '';
  return version !== '' && holdsVersion(chart, texts.get('name') ?? '') && parse(version) === null;
}

/** Whether the field of the tag holds a version for Helm. */
export function holdsVersion({ isVersion }: ChartFields, name: string): boolean {
  return isVersion === true || name !== '';
}

/**
 * Why fields hold no single version in an OCI repository, and what to do about it; undefined if they do. It contains no value of the resource, because authors of
 * policies may not be permitted to read it.
 */
export function whyNoChart(texts: ReadTexts, fields: TargetFields, source: Workload | undefined): string | undefined {
  const { chart, repository = '', tag = '' } = fields;
  if (chart === undefined) return undefined;
  const paths = { repository, name: chart.name, tag };
  const template = (['repository', 'name', 'tag'] as const).find((part) => texts.get(part)?.includes('{{'));
  if (template !== undefined) return `${paths[template]} is a template: write there what it stands for`;
  const fault = chart.source && whyNoSource(chart.source, source, texts.get('sourceKind'));
  if (fault !== undefined) return fault;
  if (holdsRange(texts, chart)) return `${tag} holds a range or a name, in which the other tool would choose: write one version there`;
  if (repositoryOf(texts, chart, source) !== undefined) return undefined;
  if (chart.source !== undefined) return `the URL of its ${chart.source.kind} and ${chart.name} name no OCI repository`;
  const form = (texts.get('name') ?? '') === '' ? 'oci://HOST/PATH' : 'HOST/PATH, without a scheme beside the name of a chart';
  return `${repository} names no OCI repository, which is written as ${form}: Git and Helm repositories announce no pushes`;
}

function whyNoSource({ kind, kindField, ...fields }: ChartSource, source: Workload | undefined, written: string | undefined) {
  if (written !== kind) return `${kindField} is not ${kind}: others announce no pushes`;
  if (source === undefined)
    return `its ${kind} cannot be seen: it does not exist, or does not consent, as a target of another namespace must`;
  return urlOf(source, { kind, kindField, ...fields }) === '' ? `its ${kind} is not of the type oci: others announce no pushes` : undefined;
}
