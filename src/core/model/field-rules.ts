/** Decides which fields of custom resources policies may write: those that the operator allows, and the built-in ones. */
import type { Artifact } from './artifact.ts';
import { builtInTargets, helmValuesAbove } from './built-in-targets.ts';
import { isAbout, isConfigMap, type NamedObject, type RestartedWorkload } from './config-map-target.ts';
import { defined } from './defined.ts';
import { formatFieldPath, hasWildcard, matchesPattern, parseFieldPath } from './field-path.ts';
import type { TargetFields } from './image-policy.ts';
import { sameRepository, tryParseImageReference, type RegistryAliases, type Repository } from './image-reference.ts';
import type { ChartFields } from './oci-chart.ts';
import { isCustomVersion, kindKey, type KindRef } from './workload.ts';

/** A field that may be written. With neither `repository` nor `image` it contains a whole image reference, which names its repository itself. */
export interface FieldRule {
  /** The path of the field, or a pattern of paths. */
  readonly path: string;
  /** The field of the resource that holds the repository of this image; for a pattern, a field beside `path`. */
  readonly repository?: string;
  /** The one repository whose tags may be written here, if the resource does not name one. */
  readonly image?: string;
  /** The field of the resource that contains the version of the image, where the version is the image's tag. */
  readonly version?: string;
  /** Present for the version of a chart or of another OCI artifact, which is pulled from the repository in the field `repository`. */
  readonly chart?: ChartFields;
  /** Whether only images may be written here, as in all built-in fields that hold no chart. Absent in rules of operators. */
  readonly isImage?: true;
}

/** A kind with the fields that may be written. */
export interface CustomTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly fields: readonly FieldRule[];
  /** The one object whose fields may be written; for ConfigMaps alone, which have both. */
  readonly namespace?: string;
  readonly name?: string;
  /** The workloads in its namespace that are restarted after each change of it. */
  readonly restarts?: readonly RestartedWorkload[];
}

/** What a policy writes: artifacts of a repository, which is undefined where it is not known. */
export interface WrittenArtifact {
  readonly repository?: Repository | undefined;
  readonly artifact?: Artifact;
}

/** The operator's configuration that decides which fields may be written. */
export interface FieldContext {
  readonly customTargets: readonly CustomTarget[];
  readonly aliases: RegistryAliases;
}

/** The fields to read and write, with their repository; or which fields may not be written, and what to do about it. */
export type FieldsOrProblem = { readonly fields: TargetFields } | { readonly part?: keyof TargetFields; readonly message: string };

/** The rule for a path without a configured rule. Its repository is in the field `repository` beside it. */
export function ruleOfPath(path: string): FieldRule {
  const repository = besideField(path, 'repository');
  return { path, ...defined({ repository }) };
}

/** All rules for a kind, those of the operator first. */
export function fieldRulesOf(kind: KindRef, customTargets: readonly CustomTarget[]): readonly FieldRule[] {
  if (whyNever(kind) !== undefined) return [];
  const key = kindKey(kind);
  return [...customTargets, ...builtInTargets].filter((target) => kindKey(target) === key).flatMap(({ fields }) => fields);
}

/** The fields of a kind that hold the version or the tag of a chart, unless the operator allows others; patterns where there may be several. */
export function versionFieldsOf(kind: KindRef): string[] {
  return fieldRulesOf(kind, []).flatMap(({ path, chart }) => (chart === undefined || chart.isDigest === true ? [] : [path]));
}

/** The fields of a kind that are read because resources of other kinds get their charts from it. Policies never write them. */
export function sourceFieldsOf(kind: KindRef): readonly FieldRule[] {
  const sources = builtInTargets.flatMap(({ fields }) => fields.flatMap(({ chart }) => chart?.source ?? []));
  const [found] = sources.filter((source) => kindKey(source) === kindKey(kind));
  return found === undefined ? [] : [{ path: found.urlField }, { path: found.typeField }];
}

/** Why no field of a kind may ever be written, whatever the configuration allows; undefined if it may allow some. */
export function whyNever({ apiVersion, kind }: KindRef): string | undefined {
  if (isConfigMap({ kind, ...defined({ apiVersion }) })) return undefined;
  const group = apiVersion?.split('/')[0] ?? '';
  if (!isCustomVersion(apiVersion) || group === 'k8s.io' || group.endsWith('.k8s.io'))
    return `fields of ${kind} may not be written: its API group belongs to Kubernetes itself`;
  if (group === ownGroup) return `fields of ${kind} are not written by policies`;
  if (podTemplateKinds.has(`${group}/${kind}`))
    return `fields of ${kind} may not be written: it has a pod template, whose containers are found by their image; remove fields`;
  return undefined;
}

/** Checks the fields of a target. If the policy's repository is not given, rules with a fixed repository are not compared with it. */
export function checkFields(
  kind: KindRef & Partial<NamedObject>,
  written: TargetFields,
  subject: WrittenArtifact,
  context: FieldContext,
): FieldsOrProblem {
  const never = whyNever(kind);
  if (never !== undefined) return { message: never };
  const rules = fieldRulesOf(
    kind,
    context.customTargets.filter((target) => isAbout(target, kind)),
  );
  let sources: ReadonlySet<string | undefined> | undefined;
  let version: string | undefined;
  let chart: ChartFields | undefined;
  for (const part of ['image', 'tag', 'digest'] as const) {
    const path = written[part];
    if (path === undefined) continue;
    const matching = rules.filter((rule) => matchesPattern(parseFieldPath(rule.path), parseFieldPath(path)));
    const usable = matching.filter((rule) => isUsableFor(rule, part, subject, context.aliases));
    if (usable.length === 0) return { part, message: explain(kind, path, matching, subject) };
    version ??= usable.find((rule) => rule.version !== undefined)?.version;
    chart ??= usable.flatMap((rule) => chartFieldsOf(rule, path, written) ?? [])[0];
    const found = new Set(usable.map((rule) => (part === 'image' ? undefined : repositoryPathOf(rule, path))));
    sources = sources === undefined ? found : new Set([...sources].filter((source) => found.has(source)));
  }
  const named = written.repository === undefined ? undefined : canonical(written.repository);
  const source = named === undefined ? [...(sources ?? [])][0] : named;
  if (sources?.has(source) !== true) return explainRepository(kind, written, sources);
  return { fields: { ...withPaths(written, source), ...defined({ version, chart }) } };
}

function isUsableFor(
  rule: FieldRule,
  part: 'image' | 'tag' | 'digest',
  { repository, artifact = 'Image' }: WrittenArtifact,
  aliases: RegistryAliases,
): boolean {
  if (artifact === 'Image' ? rule.chart !== undefined : artifact === 'Chart' && rule.isImage === true) return false;
  if (rule.chart !== undefined && part !== partOfChart(rule.chart)) return false;
  if (rule.image === undefined) return part === 'image' || rule.repository !== undefined;
  const fixed = tryParseImageReference(rule.image, aliases);
  return repository === undefined || (fixed !== undefined && sameRepository(fixed.repository, repository));
}

/** The part of a chart that its field holds. */
function partOfChart({ isDigest }: ChartFields): 'tag' | 'digest' {
  return isDigest === true ? 'digest' : 'tag';
}

/** How the fields hold a chart, with the paths of this one. Fields that the policy writes itself overrule nothing. */
function chartFieldsOf({ path: pattern, chart }: FieldRule, path: string, { tag, digest }: TargetFields): ChartFields | undefined {
  if (chart === undefined) return undefined;
  const own = [tag, digest].map((one) => one && canonical(one));
  const overruledBy = chart.overruledBy?.filter((other) => !own.includes(other)) ?? [];
  const name = chart.name && repositoryPathOf({ path: pattern, repository: chart.name }, path);
  return { ...defined({ name, isVersion: chart.isVersion, source: chart.source }), ...(overruledBy.length > 0 && { overruledBy }) };
}

/** The path of the field with the repository; undefined if the operator has fixed the repository. */
function repositoryPathOf({ path: pattern, repository }: FieldRule, path: string): string | undefined {
  if (repository === undefined) return undefined;
  const name = parseFieldPath(repository).at(-1);
  const isBeside = besideField(pattern, String(name)) === repository;
  return isBeside ? formatFieldPath([...parseFieldPath(path).slice(0, -1), name ?? '']) : canonical(repository);
}

/** The path of a sibling field: `spec.image.tag`, `repository` → `spec.image.repository`. An entry of a list has no sibling fields. */
function besideField(path: string, name: string): string | undefined {
  const dot = path.lastIndexOf('.');
  return dot < 0 || path.endsWith(']') ? undefined : `${path.slice(0, dot)}.${name}`;
}

/** The fields that may hold the registry of an image, apart from its repository field. */
export interface RegistryPaths {
  /** The field of the registry beside that of the repository. */
  readonly registry?: string;
  /** The global registry: in the values that a Helm chart shares with its subcharts. Many charts let it override the registry of each image. */
  readonly global?: string;
  readonly globalRegistry?: string;
}

/** The fields that may contain the registry of the image whose repository is in this field. */
export function registryPathsOf(repository: string): RegistryPaths {
  const registry = besideField(repository, 'registry');
  const values = helmValuesAbove(repository);
  return {
    ...defined({ registry }),
    ...(values !== undefined && { global: `${values}.global`, globalRegistry: `${values}.global.imageRegistry` }),
  };
}

function withPaths({ image, tag, digest }: TargetFields, repository: string | undefined): TargetFields {
  return {
    ...(image !== undefined && { image: canonical(image) }),
    ...defined({ repository }),
    ...(tag !== undefined && { tag: canonical(tag) }),
    ...(digest !== undefined && { digest: canonical(digest) }),
  };
}

function canonical(path: string): string {
  return formatFieldPath(parseFieldPath(path));
}

function explain(
  kind: KindRef & Partial<NamedObject>,
  path: string,
  matching: readonly FieldRule[],
  { artifact = 'Image' }: WrittenArtifact,
): string {
  const [chart] = matching.flatMap((rule) => rule.chart ?? []);
  if (artifact !== 'Image' && chart !== undefined)
    return `${path} of ${kind.kind} holds a ${chart.isDigest === true ? 'digest' : 'version'}: write it as fields.${partOfChart(chart)}`;
  if (chart !== undefined)
    return `${path} of ${kind.kind} holds the version of a chart, and this policy selects images: write spec.artifact: Chart`;
  if (artifact === 'Chart' && matching.some(({ isImage }) => isImage === true))
    return `${path} of ${kind.kind} holds an image, and this policy selects charts: remove spec.artifact`;
  const fixed = matching.flatMap(({ image }) => image ?? []);
  if (fixed.length > 0) return `the operator lets policies write ${path} of ${kind.kind} for images of ${fixed.join(', ')} only`;
  if (matching.length > 0) return `${path} of ${kind.kind} holds a whole image reference: write it as fields.image`;
  const versions = artifact === 'Image' ? [] : versionFieldsOf(kind);
  if (versions.length > 0) return `${path} of ${kind.kind} may not be written: the version of a chart is in ${versions.join(' or ')}`;
  return `${path} of ${kind.kind} may not be written: let the operator allow it with the setting ${setting(kind, path)}`;
}

function explainRepository(kind: KindRef, written: TargetFields, sources: ReadonlySet<string | undefined> = new Set()): FieldsOrProblem {
  const { tag, digest, repository } = written;
  const path = tag ?? digest ?? '';
  const allowed = [...sources].flatMap((source) => source ?? []);
  if (repository === undefined) {
    const message = `${[tag, digest].join(' and ')} of ${kind.kind} may not be written together: their repositories are not in one field`;
    return { part: 'digest', message };
  }
  const instead = allowed.length > 0 ? `name ${allowed.join(' or ')}, or remove it` : 'remove it, for the operator fixed the repository';
  const message =
    `${path} of ${kind.kind} may not be written with the repository in ${repository}: ${instead}. ` +
    `Where it is right, let the operator allow it with the setting ${setting(kind, `{path: ${path}, repository: ${repository}}`)}`;
  return { part: 'repository', message };
}

function setting({ apiVersion, kind, namespace = 'NAMESPACE', name = 'NAME' }: KindRef & Partial<NamedObject>, field: string): string {
  if (isConfigMap({ kind, ...defined({ apiVersion }) }))
    return `customTargets: [{apiVersion: v1, kind: ConfigMap, namespace: ${namespace}, name: ${name}, fields: [{path: ${field}, image: REPOSITORY}]}]`;
  return `customTargets: [{apiVersion: ${apiVersion}, kind: ${kind}, fields: ["${field}"]}]`.replace(/"(\{.*\})"/, '$1');
}

const ownGroup = 'operator.technomad.dev';

/** Third-party kinds with containers in `spec.template`. Other kinds with a pod template are recognised when an object of them is read. */
const podTemplateKinds: ReadonlySet<string> = new Set([
  'argoproj.io/Rollout',
  'serving.knative.dev/Service',
  'serving.knative.dev/Configuration',
  'apps.kruise.io/CloneSet',
  'apps.kruise.io/StatefulSet',
  'apps.kruise.io/DaemonSet',
]);

/** The problem of a rule besides its form; undefined if there is none. */
export function ruleProblem({ path, repository, image }: FieldRule): string | undefined {
  const [first] = parseFieldPath(path);
  if (['apiVersion', 'kind', 'metadata', 'status'].includes(String(first))) return `fields of ${String(first)} are never written`;
  if (path.startsWith('spec.template.spec.')) return 'is in a pod template, whose containers are found by their image: remove it';
  if (repository !== undefined && image !== undefined) return 'has both repository and image: keep one of them';
  if (repository === undefined || !(hasWildcard(path) || hasWildcard(repository))) return undefined;
  const name = parseFieldPath(repository).at(-1);
  return besideField(path, String(name)) === repository
    ? undefined
    : `has wildcards, so its repository must be beside it: ${besideField(path, String(name)) ?? 'name the path without wildcards'}`;
}
