import { group, kind } from './group.ts';
import { isDraft, type CheckContext } from './rules.ts';
import * as v1 from './v1.ts';
import { specSchema } from './v1-spec.ts';
import * as v1alpha1 from './v1alpha1.ts';
import { metadataProblems } from './validation/metadata-problems.ts';
import { problem, type Problem } from './validation/problem.ts';
import { specProblems } from './validation/spec-problems.ts';
import { unknownFields, unknownKeys } from './validation/unknown-fields.ts';
import { v1alpha1Problems } from './validation/v1alpha1-problems.ts';

const apiVersions = [v1.apiVersion, v1alpha1.apiVersion];

/** Whether a document is meant as an ImagePolicy of ours, however wrong it is. */
export function isPolicy(document: unknown): boolean {
  if (!isDraft(document)) return false;
  const { apiVersion } = document;
  if (typeof apiVersion !== 'string') return document['kind'] === kind;
  return apiVersion === group || apiVersion.startsWith(`${group}/`);
}

/**
 * Everything that is wrong with a whole document that is meant as an ImagePolicy, of either version: what it is, its metadata, fields
 * that there are not, and its spec. `status` is the service's business and not looked at. Without
 * what the operator allows, only built-in fields of custom resources are right.
 */
export function validatePolicy(document: unknown, operator: Omit<CheckContext, 'namespace'> = {}): readonly Problem[] {
  if (!isDraft(document)) return [problem([], 'is no object: write apiVersion, kind, metadata and spec')];
  const { apiVersion, spec, metadata } = document;
  const problems = [
    ...kindProblems(document),
    ...unknownKeys(document, ['apiVersion', 'kind', 'metadata', 'spec', 'status'], []),
    ...metadataProblems(metadata),
  ];
  // A version that there is not was told above; what is inside is result by the one that people should write.
  if (apiVersion === v1alpha1.apiVersion) {
    return [...problems, ...unknownFields(v1alpha1.specSchema, spec, ['spec']), ...v1alpha1Problems(spec)];
  }
  const namespace = isDraft(metadata) && typeof metadata['namespace'] === 'string' ? metadata['namespace'] : undefined;
  return [...problems, ...unknownFields(specSchema, spec, ['spec']), ...specProblems(specSchema, spec, { ...operator, namespace })];
}

function kindProblems(document: Readonly<Record<string, unknown>>): Problem[] {
  const problems: Problem[] = [];
  const { apiVersion } = document;
  if (typeof apiVersion !== 'string') problems.push(problem(['apiVersion'], `is missing: write ${v1.apiVersion}`));
  else if (!apiVersions.includes(apiVersion))
    problems.push(problem(['apiVersion'], `"${apiVersion}" is none of ${apiVersions.join(', ')}`));
  if (document['kind'] !== kind) problems.push(problem(['kind'], `the group ${group} has only the kind ${kind}`));
  return problems;
}
