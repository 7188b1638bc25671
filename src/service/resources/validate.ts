/** Everything that is wrong with a policy, for the reconcile and for `lint`. */
import type { z } from 'zod';
import { isObject } from '../../core/model/untyped.ts';
import { baseSpecSchema } from '../../bases/resource/schema.ts';
import { baseKind, group, kind, notificationTargetKind } from './group.ts';
import { targetSpecSchema } from '../../notify/resource/schema.ts';
import type { CheckContext } from './rules.ts';
import { checkLabelKey } from './v1-fields/scalars.ts';
import * as v1 from './v1.ts';
import * as v1alpha1 from '../../conversion/v1alpha1.ts';
import { problem, type Problem } from './validation/problem.ts';
import { specProblems, unknownFields, unknownKeys } from './validation/spec-problems.ts';
import { v1alpha1Problems } from '../../conversion/v1alpha1-problems.ts';

/** The kinds of the group, each with its versions. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  [kind]: [v1.apiVersion, v1alpha1.apiVersion],
  [baseKind]: [v1.apiVersion],
  [notificationTargetKind]: [v1.apiVersion],
};

/** The specs of the kinds that have one version. */
const plainSpecs: Readonly<Record<string, z.ZodType>> = { [baseKind]: baseSpecSchema, [notificationTargetKind]: targetSpecSchema };

/** Whether a document claims to be of a kind of this group, however invalid it is. */
export function isPolicy(document: unknown): boolean {
  if (!isObject(document)) return false;
  const { apiVersion } = document;
  if (typeof apiVersion !== 'string') return Object.hasOwn(kinds, String(document['kind']));
  return apiVersion === group || apiVersion.startsWith(`${group}/`);
}

/**
 * Everything that is wrong with a document that claims to be of a kind of the group: its kind, metadata, unknown fields and spec. `status` is not
 * checked: the service writes it. Without what the operator allows, only built-in fields of custom resources are valid.
 */
export function validatePolicy(document: unknown, operator: Omit<CheckContext, 'namespace'> = {}): readonly Problem[] {
  if (!isObject(document)) return [problem([], 'is not an object: write apiVersion, kind, metadata and spec')];
  const { apiVersion, spec, metadata } = document;
  const problems = [
    ...kindProblems(document),
    ...unknownKeys(document, ['apiVersion', 'kind', 'metadata', 'spec', 'status'], []),
    ...metadataProblems(metadata),
  ];
  const namespace = isObject(metadata) && typeof metadata['namespace'] === 'string' ? metadata['namespace'] : undefined;
  const context = { ...operator, namespace };
  const plain = plainSpecs[String(document['kind'])];
  if (plain !== undefined) return [...problems, ...unknownFields(plain, spec, ['spec']), ...specProblems(plain, spec, context)];
  if (apiVersion === v1alpha1.apiVersion) {
    return [...problems, ...unknownFields(v1alpha1.specSchema, spec, ['spec']), ...v1alpha1Problems(spec, context)];
  }
  // An unknown version is reported above; its spec is checked as v1, which users should write.
  return [...problems, ...unknownFields(v1.specSchema, spec, ['spec']), ...specProblems(v1.specSchema, spec, context)];
}

function kindProblems({ apiVersion, kind: written }: Readonly<Record<string, unknown>>): Problem[] {
  const problems: Problem[] = [];
  const isPlain = typeof written === 'string' && Object.hasOwn(plainSpecs, written);
  const versions = kinds[isPlain ? written : kind] ?? [];
  if (typeof apiVersion !== 'string') problems.push(problem(['apiVersion'], `is missing: write ${v1.apiVersion}`));
  else if (!versions.includes(apiVersion)) {
    const expected = isPlain ? `not ${v1.apiVersion}, the only version of ${written}` : `none of ${versions.join(', ')}`;
    problems.push(problem(['apiVersion'], `"${apiVersion}" is ${expected}`));
  }
  if (typeof written !== 'string' || !Object.hasOwn(kinds, written)) {
    problems.push(problem(['kind'], `the group ${group} has only the kinds ${new Intl.ListFormat('en').format(Object.keys(kinds))}`));
  }
  return problems;
}

/**
 * Everything that is wrong with the spec of a v1 policy: types and limits, the rules that the API server checks in CEL, and what only code can check. Empty
 * if it can be used. Unknown fields are not reported here, because a newer schema may have them (`validatePolicy` reports them).
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
