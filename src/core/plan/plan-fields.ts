/** Plans the fields of a custom resource that together make an image, as if they were one container. */
import { defined } from '../model/defined.ts';
import { fieldLabel, parseFieldPath } from '../model/field-path.ts';
import { versionOfTag } from '../model/oci-chart.ts';
import type { WorkloadView } from '../model/resolve-target.ts';
import { registryPathsOf, type RegistryPaths } from '../model/field-rules.ts';
import type { PolicyScope, PolicySpec, TargetFields } from '../model/image-policy.ts';
import {
  formatRepository,
  sameRepository,
  tryParseImageReference,
  type ImageReference,
  type RegistryAliases,
  type Candidate,
} from '../model/image-reference.ts';
import { fieldOf, type HeldChart, findSource, holdsVersion, readChart, readOverruling, stateOf, whyNoChart } from './chart-fields.ts';
import type { ImageDecision } from './decide-image.ts';
import type { UnchangedContainer, TargetProblem } from './plan-update.ts';
import { isVersion, newVersion } from './version-field.ts';
import {
  formatWorkload,
  type Workload,
  type WorkloadRef,
  type WorkloadField,
  type ContainerChange,
  type FieldChange,
} from '../model/workload.ts';

export interface FieldsInput {
  readonly spec: PolicySpec;
  readonly candidate: Candidate;
  readonly aliases: RegistryAliases;
  readonly findWorkload: WorkloadView['findWorkload'];
  readonly decideImage: (running: ImageReference, container: string, image: string) => ImageDecision;
}

type Usable = Extract<WorkloadField, { readonly value: unknown }>;
/** The fields that make an image, including those that are only read. */
interface Paths extends Omit<TargetFields, 'chart'>, RegistryPaths {
  /** The field with the name of a chart. */
  readonly name?: string;
  /** The fields with the kind and the namespace of the object that holds the URL of the chart. */
  readonly sourceKind?: string;
  readonly sourceNamespace?: string;
}
type Part = keyof Paths;

/** Plans the changes to the fields, or says why they cannot be written. */
export function planFields(
  fields: TargetFields,
  workload: Workload,
  input: FieldsInput,
): ContainerChange | UnchangedContainer | { readonly problem: TargetProblem } {
  if (workload.containers.length > 0) return { problem: hasContainers(workload) };
  const paths = withSource(fields, workload);
  const values = readValues(paths, workload);
  if ('problem' in values) return values;
  const overruling = readOverruling(fields, workload);
  if ('problem' in overruling) return overruling;
  const main = fields.tag ?? fields.image ?? fields.digest ?? '';
  const source = findSource(fields, referenceIn(values), workload, input.findWorkload);
  const texts = textsOf(values, fields, source);
  const image = compose(texts, input.spec);
  const running = readRunning(texts, fields, input);
  if (running === undefined) {
    // The message does not contain the value, because authors of policies may not be permitted to read the resource.
    const wanted = formatRepository(input.spec.repository);
    const what = fields.chart === undefined ? `no image of ${wanted}` : `no single version of the OCI artifact ${wanted}`;
    const why = whyNoChart(rawTextsOf(values), fields, source);
    const message = `what ${formatWorkload(workload)} holds in ${listPaths(paths)} is ${what}${why === undefined ? '' : `: ${why}`}`;
    return { problem: { reason: 'ContainerNotFound', message } };
  }
  const container = labelOf(fields);
  const decision = input.decideImage(running, container, image);
  if (decision !== 'change') {
    const { value, owner } = values.get('tag') ?? values.get('image') ?? values.get('digest') ?? { value: null };
    const message =
      typeof value === 'number' ? `${decision.message} (${main} holds a number: as one, 1.20 is 1.2; quote it)` : decision.message;
    return { container, image, ...decision, message, ...defined({ owner }) };
  }
  const version = newVersion(values.get('version')?.value, input.candidate);
  const wanted = new Map([
    ...texts,
    ...newTexts(running, fields, input),
    ...(version === undefined ? [] : [['version', version] as const]),
  ]);
  const changes = entriesOf(paths).flatMap(([part, path]): FieldChange[] => {
    if (part === 'version' && !values.has(part)) return [];
    const from = values.get(part)?.value ?? null;
    const to = writtenAs(part, wanted, values, fields);
    return [{ path, from, ...(to !== (from ?? '') && { to }) }];
  });
  const change = { container, index: 0, from: image, to: compose(wanted, input.spec), fields: [...changes, ...overruling] };
  return source === undefined ? change : { ...change, source: stateOf(source) };
}

/** The image that the fields make, if all of them exist and it belongs to the policy's repository. */
export function imageOfFields(
  fields: TargetFields,
  workload: Workload,
  input: Written,
): { readonly container: string; readonly image: string; readonly reference: ImageReference } | undefined {
  const values = readValues(withSource(fields, workload), workload);
  if (workload.containers.length > 0 || 'problem' in values || 'problem' in readOverruling(fields, workload)) return undefined;
  const texts = textsOf(values, fields, findSource(fields, referenceIn(values), workload, input.findWorkload));
  const reference = readRunning(texts, fields, input);
  return reference && { container: labelOf(fields), image: compose(texts, input.spec), reference };
}

/** The name of the fields in lists of containers. */
export function labelOf({ tag, image, digest }: TargetFields): string {
  return fieldLabel(tag ?? image ?? digest ?? '');
}

/** The values that decide which image the fields make. */
interface Written extends Pick<FieldsInput, 'aliases' | 'findWorkload'> {
  readonly spec: Pick<PolicyScope, 'repository' | 'strategy'>;
}

/** Adds the field with the name of a chart, or the fields that may hold the registry of an image. If `global` is not set, it cannot hold one, and the patch tests that it is still not set. */
function withSource({ chart, ...fields }: TargetFields, workload: Workload): Paths {
  if (chart !== undefined) {
    const { kindField: sourceKind, namespaceField: sourceNamespace } = chart.source ?? {};
    return { ...fields, ...defined({ name: chart.name, sourceKind, sourceNamespace }) };
  }
  if (fields.repository === undefined) return fields;
  const { global, globalRegistry, ...beside } = registryPathsOf(fields.repository);
  if (global === undefined || globalRegistry === undefined) return { ...fields, ...beside };
  const field = fieldOf(workload, global);
  const isSet = 'unusable' in field || field.value !== null;
  return { ...fields, ...beside, ...(isSet ? { globalRegistry } : { global }) };
}

function readValues(paths: Paths, workload: Workload): ReadonlyMap<Part, Usable> | { readonly problem: TargetProblem } {
  const values = new Map<Part, Usable>();
  for (const [part, path] of entriesOf(paths)) {
    const field = fieldOf(workload, path);
    // The version decides nothing. If it is not set, the image alone is written.
    if (part === 'version' && ('unusable' in field || !isVersion(field.value))) continue;
    const isRegistry = part === 'registry' || part === 'globalRegistry';
    if (isRegistry && ('unusable' in field ? field.unusable === 'NotText' : typeof field.value === 'number'))
      return { problem: noRegistry(path, workload) };
    if ('unusable' in field) return { problem: explain(field.unusable, path, workload) };
    if (part === 'repository' && field.value === null) return { problem: withoutRepository(path, workload) };
    values.set(part, field);
  }
  return values;
}

function hasContainers(workload: Workload): TargetProblem {
  const message = `${formatWorkload(workload)} has a pod template, whose containers are found by their image: remove fields`;
  return { reason: 'UnsupportedTargetKind', message };
}

function withoutRepository(path: string, workload: Workload): TargetProblem {
  const message = `${formatWorkload(workload)} has no ${path}, and without it nobody knows whose tag is beside it: write the repository of the image there`;
  return { reason: 'ContainerNotFound', message };
}

function noRegistry(path: string, workload: Workload): TargetProblem {
  const message = `${formatWorkload(workload)}: ${path} holds no text, so nobody knows from which registry the image is: write its host there, or remove it`;
  return { reason: 'FieldNotText', message };
}

function entriesOf(paths: Paths): [Part, string][] {
  const parts: readonly Part[] = [
    'image',
    'repository',
    'name',
    'sourceKind',
    'sourceNamespace',
    'registry',
    'globalRegistry',
    'global',
    'tag',
    'digest',
    'version',
  ];
  return parts.flatMap((part) => (paths[part] === undefined ? [] : [[part, paths[part]]]));
}

/** The texts of the fields. Those of a chart are read as an image: the repository without a scheme and with the name, and the version as its tag. */
function textsOf(values: ReadonlyMap<Part, Usable>, { chart }: TargetFields, source: Workload | undefined): Map<Part, string> {
  const texts = rawTextsOf(values);
  if (chart !== undefined) readChart(texts, chart, source);
  return texts;
}

function rawTextsOf(values: ReadonlyMap<Part, Usable>): Map<Part, string> {
  return new Map([...values].map(([part, { value }]) => [part, value === null ? '' : withoutScheme(part, String(value))]));
}

/** Reads a chart of any repository from its fields. Undefined if the resource has no such fields. */
export function readHeldChart(fields: TargetFields, workload: Workload, findWorkload: WorkloadView['findWorkload']): HeldChart | undefined {
  const values = readValues(withSource(fields, workload), workload);
  if ('problem' in values) return undefined;
  const source = findSource(fields, referenceIn(values), workload, findWorkload);
  const overruling = readOverruling(fields, workload);
  const why = 'problem' in overruling ? overruling.problem.message : whyNoChart(rawTextsOf(values), fields, source);
  if (why !== undefined) return { why };
  const texts = textsOf(values, fields, source);
  return { repository: texts.get('repository') ?? '', tag: texts.get('tag') ?? '' };
}

const ociScheme = 'oci://';

/** A whole image without the scheme with which some kinds write it. */
function withoutScheme(part: Part, text: string): string {
  return part === 'image' && text.startsWith(ociScheme) ? text.slice(ociScheme.length) : text;
}

/** The object that holds the URL of the chart of a resource, if the resource refers to one. */
export function sourceOf(fields: TargetFields | undefined, workload: Workload): WorkloadRef | undefined {
  let found: WorkloadRef | undefined;
  const values = fields && readValues(withSource(fields, workload), workload);
  if (fields === undefined || values === undefined || 'problem' in values) return undefined;
  findSource(fields, referenceIn(values), workload, (ref) => void (found = ref));
  return found;
}

function referenceIn(values: ReadonlyMap<Part, Usable>): Parameters<typeof findSource>[1] {
  const text = (part: Part) => values.get(part)?.value?.toString();
  return { kind: text('sourceKind'), namespace: text('sourceNamespace'), name: text('repository') };
}

/** A text in the form that its field holds. A field that is only read has the text that it had. */
function writtenAs(part: Part, wanted: ReadonlyMap<Part, string>, values: ReadonlyMap<Part, Usable>, { chart }: TargetFields): string {
  const text = wanted.get(part) ?? '';
  if (chart === undefined) {
    const hasScheme = part === 'image' && String(values.get(part)?.value).startsWith(ociScheme);
    return hasScheme ? `${ociScheme}${text}` : text;
  }
  if (part !== 'tag' && part !== 'digest') return String(values.get(part)?.value ?? '');
  return part === 'tag' && holdsVersion(chart, wanted.get('name') ?? '') ? versionOfTag(text) : text;
}

/** Composes the image. If no field contains the repository, it is the policy's. A registry is prepended, as charts do. */
function compose(
  texts: ReadonlyMap<Part, string>,
  { repository }: Pick<PolicySpec, 'repository'>,
  registry = texts.get('registry') ?? '',
): string {
  const whole = texts.get('image');
  if (whole !== undefined) return whole;
  const [tag = '', digest = ''] = [texts.get('tag'), texts.get('digest')];
  const name = texts.get('repository') ?? formatRepository(repository);
  return `${registry === '' ? '' : `${registry}/`}${name}${tag === '' ? '' : `:${tag}`}${digest === '' ? '' : `@${digest}`}`;
}

/** The running image, if it is of the policy's repository. A digest alone follows the mutable tag. No other strategy may write a digest without a tag. */
function readRunning(texts: ReadonlyMap<Part, string>, fields: TargetFields, { spec, aliases }: Written): ImageReference | undefined {
  const ofPolicy = (image: string) => {
    const reference = tryParseImageReference(image, aliases);
    return reference !== undefined && sameRepository(reference.repository, spec.repository) ? reference : undefined;
  };
  const running = ofPolicy(compose(texts, spec));
  // It is unknown whether the chart uses its global registry, so the image must be the policy's with and without it.
  const global = texts.get('globalRegistry') ?? '';
  if (running === undefined || (global !== '' && ofPolicy(compose(texts, spec, global)) === undefined)) return undefined;
  const { mutableTag, replaces } = spec.strategy;
  const isFollowed = mutableTag !== undefined && replaces === undefined;
  if (fields.image !== undefined || fields.tag !== undefined || !isFollowed) return running;
  return { ...running, tag: mutableTag };
}

function newTexts({ name }: ImageReference, fields: TargetFields, { spec, candidate }: FieldsInput): Map<Part, string> {
  const { tag } = candidate;
  const digest = spec.pin === 'Digest' ? candidate.digest : undefined;
  const pinned = digest === undefined ? tag : `${tag}@${digest}`;
  if (fields.image !== undefined) return new Map([['image', `${name}:${pinned}`]]);
  if (fields.digest === undefined) return new Map([['tag', pinned]]);
  return new Map<Part, string>([
    ...(fields.tag === undefined ? [] : [['tag', tag] as const]),
    ...(digest === undefined ? [] : [['digest', digest] as const]),
  ]);
}

function explain(unusable: 'ParentMissing' | 'NotText', path: string, workload: Workload): TargetProblem {
  const where = `${formatWorkload(workload)}: ${path}`;
  if (unusable === 'NotText')
    return { reason: 'FieldNotText', message: `${where} holds neither text nor a number: name the field that does` };
  const parent = parseFieldPath(path).slice(0, -1).join('.');
  return {
    reason: 'FieldPathMissing',
    message: `${where} cannot be written, because there is no ${parent} to hold it: mend the path, or write the field once by hand`,
  };
}

function listPaths(paths: Paths): string {
  return entriesOf(paths)
    .flatMap(([part, path]) => (part === 'global' || part === 'version' ? [] : [path]))
    .join(', ');
}
