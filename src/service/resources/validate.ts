/** Finds everything that is wrong with a policy, for the reconcile and for `lint`. */
import { isObject } from '../../core/model/untyped.ts';
import { group, kind } from './group.ts';
import type { ResourceGroup } from './resource-group.ts';
import type { CheckContext } from './rules.ts';
import { checkLabelKey } from './v1-fields/scalars.ts';
import * as v1 from './v1.ts';
import { problem, type Problem } from './validation/problem.ts';
import { specProblems, unknownFields, unknownKeys } from './validation/spec-problems.ts';

/** Whether a document claims to be of a kind of this group, even if it is invalid. */
export function isPolicy(document: unknown, { kinds }: ResourceGroup): boolean {
  if (!isObject(document)) return false;
  const { apiVersion } = document;
  if (typeof apiVersion !== 'string') return [kind, ...kinds.map((one) => one.kind)].includes(String(document['kind']));
  return apiVersion === group || apiVersion.startsWith(`${group}/`);
}

/**
 * Everything that is wrong with a document that claims to be of a kind of the group: its kind, metadata, unknown fields and spec. `status` is not checked,
 * because the service writes it. If the operator's permissions are not given, only built-in fields of custom resources are valid.
 */
export function validatePolicy(
  document: unknown,
  known: ResourceGroup,
  operator: Omit<CheckContext, 'namespace'> = {},
): readonly Problem[] {
  if (!isObject(document)) return [problem([], 'is not an object: write apiVersion, kind, metadata and spec')];
  const record = known.kinds.find((one) => one.kind === document['kind'] && one.recordsOf !== undefined);
  if (record !== undefined) return [problem(['kind'], `${record.kind} is written by image-watcher alone: remove it from the manifests`)];
  const { metadata } = document;
  const problems = [
    ...kindProblems(document, known),
    ...unknownKeys(document, ['apiVersion', 'kind', 'metadata', 'spec', 'status'], []),
    ...metadataProblems(metadata),
  ];
  const namespace = isObject(metadata) && typeof metadata['namespace'] === 'string' ? metadata['namespace'] : undefined;
  return [...problems, ...problemsOfSpec(document, known, { ...operator, namespace })];
}

function problemsOfSpec(
  { apiVersion, kind: written, spec }: Readonly<Record<string, unknown>>,
  known: ResourceGroup,
  context: CheckContext,
): readonly Problem[] {
  const added = known.kinds.find((one) => one.kind === written);
  const older = added === undefined ? known.olderVersions.find((one) => one.apiVersion === apiVersion) : undefined;
  if (older !== undefined) return [...unknownFields(older.specSchema, spec, ['spec']), ...older.problems(spec, context)];
  // An unknown version is reported elsewhere. Its spec is checked as v1, which users should write.
  const { specSchema } = added ?? v1;
  return [...unknownFields(specSchema, spec, ['spec']), ...specProblems(specSchema, spec, context)];
}

function kindProblems(
  { apiVersion, kind: written }: Readonly<Record<string, unknown>>,
  { kinds, olderVersions }: ResourceGroup,
): Problem[] {
  const problems: Problem[] = [];
  const added = kinds.find((one) => one.kind === written);
  const versions = [v1.apiVersion, ...(added === undefined ? olderVersions.map((one) => one.apiVersion) : [])];
  if (typeof apiVersion !== 'string') problems.push(problem(['apiVersion'], `is missing: write ${v1.apiVersion}`));
  else if (!versions.includes(apiVersion)) {
    const expected =
      versions.length > 1 ? `none of ${versions.join(', ')}` : `not ${v1.apiVersion}, the only version of ${added?.kind ?? kind}`;
    problems.push(problem(['apiVersion'], `"${apiVersion}" is ${expected}`));
  }
  if (written !== kind && added === undefined) {
    const written = kinds.flatMap((one) => (one.recordsOf === undefined ? [one.kind] : []));
    const names = new Intl.ListFormat('en').format([kind, ...written]);
    problems.push(problem(['kind'], `the group ${group} has only the ${kinds.length > 0 ? 'kinds' : 'kind'} ${names}`));
  }
  return problems;
}

/**
 * Everything that is wrong with the spec of a v1 policy: types and limits, the rules in CEL, and the checks that only code can make.
 * Empty if it can be used. Unknown fields are not reported here, because a newer schema may have them (`validatePolicy` reports them).
 */
export function validateSpec(spec: unknown, context: CheckContext = {}): readonly Omit<Problem, 'keys'>[] {
  return specProblems(v1.specSchema, spec, context).map(({ path, message, reason }) => ({ path, message, reason }));
}

const subdomain = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** What is wrong with the parts of `metadata` that users write: name, namespace, labels and annotations. */
function metadataProblems(metadata: unknown): Problem[] {
  if (!isObject(metadata)) return [problem(['metadata'], 'is missing: write at least metadata.name')];
  const { name, generateName, namespace } = metadata;
  const problems: Problem[] = [];
  const add = (key: string, message: string) => void problems.push(problem(['metadata', key], message));
  if (name === undefined || name === null) {
    if (typeof generateName !== 'string') add('name', 'is missing: write a name, such as "web"');
  } else if (typeof name !== 'string' || name.length > 253 || !subdomain.test(name)) {
    add('name', `${JSON.stringify(name)} is not a name: lower-case letters, digits, "-" and "." between letters or digits`);
  }
  if (namespace !== undefined && namespace !== null && (typeof namespace !== 'string' || !label.test(namespace))) {
    add('namespace', `${JSON.stringify(namespace)} is not a namespace: lower-case letters, digits and "-", at most 63`);
  }
  return [...problems, ...['labels', 'annotations'].flatMap((key) => textProblems(metadata[key], key))];
}

function textProblems(map: unknown, field: string): Problem[] {
  if (map === undefined || map === null) return [];
  if (!isObject(map)) return [problem(['metadata', field], 'is not a list of names with their values')];
  return Object.entries(map).flatMap(([key, value]) => [
    ...(typeof value === 'string' ? [] : [problem(['metadata', field, key], `is ${JSON.stringify(value)}: write a text in quotes`)]),
    ...checkLabelKey(key).map(() => problem(['metadata', field, key], 'is not a name such as "app" or "example.com/app"')),
  ]);
}
