/** Finds the charts and other OCI artifacts that a resource names with an exact version. Pure. */
import { consentAnnotation } from '../../core/model/consent-annotation.ts';
import { defined } from '../../core/model/defined.ts';
import { matchesPattern, parseFieldPath } from '../../core/model/field-path.ts';
import { checkFields } from '../../core/model/field-rules.ts';
import { type ImagePolicy, policyKey, scopeOf, type TargetFields } from '../../core/model/image-policy.ts';
import { type ImageReference, sameRepository, tryParseImageReference } from '../../core/model/image-reference.ts';
import { matchesTarget } from '../../core/model/resolve-target.ts';
import { fieldsOf, textOrEmpty } from '../../core/model/untyped.ts';
import { formatWorkload, refOf, type Workload, type WorkloadRef } from '../../core/model/workload.ts';
import { readChartVersion } from '../../core/select/chart-version.ts';
import { fieldOf, type HeldChart } from '../../core/plan/chart-fields.ts';
import { type Config, registryAliases } from '../../service/config/settings.ts';
import type { TargetKind } from '../../service/kube/targets.ts';
import { whyNotResource } from './why-not-resource.ts';

/** A chart or another OCI artifact that a resource names with an exact version. */
export interface RunningChart {
  readonly workload: WorkloadRef;
  readonly fields: Pick<TargetFields, 'tag' | 'digest'>;
  /** The repository, with the tag that is installed. */
  readonly reference: ImageReference & { readonly tag: string };
  /** The Secret in the namespace of the resource with which its controller pulls. */
  readonly pullSecret?: string;
  readonly notes: readonly string[];
}

/** The fields of each chart that a resource names. A field that another one overrules is none of them. */
export function chartFieldsOf(kind: TargetKind, workload: Workload, config: Config): TargetFields[] {
  const rules = kind.fields ?? [];
  const pathsOf = (isDigest: boolean) =>
    rules
      .filter(({ chart }) => (chart?.isDigest === true) === isDigest)
      .flatMap(({ path }) => Object.keys(workload.fields ?? {}).filter((one) => matchesPattern(parseFieldPath(path), parseFieldPath(one))));
  const [digest] = pathsOf(true).filter((path) => textOf(workload, path) !== '');
  const context = { customTargets: [], aliases: registryAliases(config) };
  const all = pathsOf(false).flatMap((tag): TargetFields[] => {
    const checked = checkFields(refOf(workload), { tag, ...defined({ digest }) }, { artifact: 'Any' }, context);
    return 'fields' in checked && namesArtifact(checked.fields, workload) ? [checked.fields] : [];
  });
  const isSet = ({ tag = '' }: TargetFields) => textOf(workload, tag) !== '';
  const overruling = new Set(all.filter(isSet).map(({ tag = '' }) => tag));
  const groups = Map.groupBy(all, ({ repository }) => repository);
  return [...groups.values()].flatMap((group) => {
    const set = group.filter((one) => isSet(one) && !one.chart?.overruledBy?.some((other) => overruling.has(other)));
    return set.length > 0 ? set : group.slice(0, 1);
  });
}

/** Whether fields name a chart or an OCI repository at all. A source from Git does not. */
function namesArtifact({ repository = '', chart }: TargetFields, workload: Workload): boolean {
  const url = textOf(workload, repository);
  return url !== '' && (chart?.name === undefined || textOf(workload, chart.name) !== '' || url.startsWith('oci://'));
}

function textOf(workload: Workload, path: string): string {
  const field = fieldOf(workload, path);
  return 'value' in field ? String(field.value ?? '') : '';
}

/** An object of the API server. */
export interface ReadObject {
  readonly workload: Workload;
  readonly raw: unknown;
}

/** The fields of a resource, what they hold, and the object that holds the URL of their repository. */
interface Held extends ReadObject {
  readonly fields: TargetFields;
  readonly held: HeldChart;
  readonly source: ReadObject | undefined;
}

interface Context {
  /** The namespace whose resources are read; undefined for all. */
  readonly namespace: string | undefined;
  readonly config: Config;
  readonly policies: readonly ImagePolicy[];
}

/** The chart in fields, or why no policy is proposed for it. */
export function findChart({ fields, held, workload, raw, source }: Held, context: Context): RunningChart | { readonly why: string } {
  const { tag: path = '', digest } = fields;
  const { namespace, config, policies } = context;
  const field = fieldOf(workload, path);
  const owner = 'value' in field ? field.owner : undefined;
  const why = whyNotResource(raw, { namespace: workload.namespace, owner, isEverywhere: namespace === undefined });
  if (why !== undefined) return { why };
  if ('why' in held) return held;
  if (held.tag === '') return withoutVersion(fields);
  const reference = tryParseImageReference(`${held.repository}:${held.tag}`, registryAliases(config));
  if (reference?.tag === undefined) return { why: 'it is not the name of an OCI artifact' };
  if (readChartVersion(reference.tag) === undefined)
    return { why: `${reference.tag} is no version, of which a higher one could be selected: write a policy by hand` };
  const covering = policies.find((policy) => isCovered(policy, workload, { path, reference }));
  if (covering !== undefined) return { why: `ImagePolicy ${policyKey(covering)} updates it already` };
  const isElsewhere = source !== undefined && source.workload.namespace !== workload.namespace;
  if (isElsewhere && config.crossNamespace === 'deny')
    return { why: `${formatWorkload(source.workload)} is in another namespace, and crossNamespace of the configuration is deny` };
  const consent = isElsewhere && config.crossNamespace !== 'allow' ? [consentNote(source.workload, workload)] : [];
  const pullSecret = pullSecretOf(workload, raw) ?? (source && !isElsewhere ? pullSecretOf(source.workload, source.raw) : undefined);
  return {
    workload: refOf(workload),
    fields: { tag: path, ...defined({ digest }) },
    reference: { ...reference, tag: reference.tag },
    notes: consent,
    ...defined({ pullSecret }),
  };
}

/** Why a chart without a version is left out. */
export function withoutVersion({ tag = '', digest }: TargetFields): { readonly why: string } {
  const lacking = digest === undefined ? 'it names no version, so the other tool chooses one' : 'it is pinned by its digest only';
  return { why: `${lacking}: write the version that is installed into ${tag}` };
}

function isCovered({ spec }: ImagePolicy, workload: Workload, { path, reference }: { path: string; reference: ImageReference }): boolean {
  const scope = scopeOf(spec);
  if (scope === undefined || !sameRepository(scope.repository, reference.repository)) return false;
  return scope.targets.some((target) => target.fields?.tag === path && matchesTarget(target, workload));
}

/** What the owner of a repository in another namespace has to do before a policy may use it. */
function consentNote(source: Workload, { namespace }: Workload): string {
  return `${formatWorkload(source)} is in another namespace, and has to consent: it or its Namespace needs the annotation ${consentAnnotation} with ${namespace}.`;
}

/** The field with the name of the Secret, which has the type `kubernetes.io/dockerconfigjson`, as pull secrets of policies have. */
const secretFields: Readonly<Record<string, string>> = {
  OCIRepository: 'secretRef',
  HelmRepository: 'secretRef',
  HelmChart: 'dockerRegistrySecret',
};

function pullSecretOf(workload: Workload, raw: unknown): string | undefined {
  const field = secretFields[workload.kind];
  return (field && textOrEmpty(fieldsOf(fieldsOf(fieldsOf(raw)['spec'])[field])['name'])) || undefined;
}

/** A chart as the resource names it, also where it names no OCI artifact. */
export function describeHeld({ repository = '', chart, tag = '' }: TargetFields, workload: Workload, held: HeldChart): string {
  if (!('why' in held)) return held.tag === '' ? held.repository : `${held.repository}:${held.tag}`;
  const parts = [repository, chart?.name, tag].map((path) => (path === undefined ? '' : textOf(workload, path)));
  return parts.filter((part) => part !== '').join(' ');
}
