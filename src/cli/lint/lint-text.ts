import { isPolicy, validatePolicy } from '../../service/resources/validate.ts';
import type { ResourceGroup } from '../../service/resources/resource-group.ts';
import type { CheckContext } from '../../service/resources/rules.ts';
import { valueAt } from '../../service/resources/validation/problem.ts';
import { policyWarnings } from './policy-warnings.ts';
import { objectsIn, readDocuments, type Position } from '../manifests/read-documents.ts';
import { readManifest, type Manifests } from './read-manifest.ts';

/** A problem of a file, or of a policy of the cluster, which has no position. */
export interface LintProblem extends Partial<Position> {
  /** The name of the policy, if it has one: `shop/web`. */
  readonly policy?: string;
  /** The path of the field: `spec.image`; absent if the problem is not about a field. */
  readonly field?: string;
  readonly message: string;
  readonly reason: string;
}

/** The result of checking a file. */
export interface LintResult {
  /** The number of checked policies. */
  readonly policies: number;
  /** The number of documents of other kinds. */
  readonly others: number;
  readonly problems: readonly LintProblem[];
  /** Warnings: valid, but probably mistakes; absent if there are none. */
  readonly warnings?: readonly LintProblem[];
  /** What would happen in the cluster; absent if nothing would, or if it is not known. */
  readonly notes?: readonly LintProblem[];
  readonly manifests: Manifests;
}

const builtInOnly = ' (known here are only the built-in fields: name the configuration of the service with --config where it allows more)';

/** Checks every policy in a text, including those in lists, against the operator's configuration if it is known. Problems are sorted by position. */
export function lintText(text: string, resources: ResourceGroup, operator?: Omit<CheckContext, 'namespace'>): LintResult {
  let policies = 0;
  let others = 0;
  const problems: LintProblem[] = [];
  const warnings: LintProblem[] = [];
  const manifests: Manifests[] = [];
  for (const document of readDocuments(text)) {
    if ('problems' in document) {
      problems.push(...document.problems.map((problem) => ({ ...problem, reason: 'InvalidYaml' })));
      continue;
    }
    for (const { value, keys } of objectsIn(document.value)) {
      manifests.push(readManifest(value, (inner) => document.positionOf([...keys, ...inner]), resources, operator));
      if (!isPolicy(value, resources)) {
        others++;
        continue;
      }
      policies++;
      const policy = nameOf(value);
      for (const { keys: inner, path, message, reason } of validatePolicy(value, resources, operator)) {
        const hint = reason === 'FieldNotAllowed' && operator === undefined ? builtInOnly : '';
        const position = document.positionOf([...keys, ...inner]);
        problems.push({ ...position, ...(policy && { policy }), ...(path && { field: path }), message: message + hint, reason });
      }
      for (const { keys: inner, path, message, reason } of policyWarnings(value))
        warnings.push({ ...document.positionOf([...keys, ...inner]), ...(policy && { policy }), field: path, message, reason });
    }
  }
  const found = { problems: problems.toSorted(byPosition), ...(warnings.length > 0 && { warnings: warnings.toSorted(byPosition) }) };
  const read = { policies: manifests.flatMap((one) => one.policies), workloads: manifests.flatMap((one) => one.workloads) };
  return { policies, others, ...found, manifests: read };
}

/** Compares positions in a text. */
export function byPosition(a: Partial<Position>, b: Partial<Position>): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

function nameOf(policy: unknown): string | undefined {
  const [name, namespace] = ['name', 'namespace'].map((key) => valueAt(policy, ['metadata', key]));
  if (typeof name !== 'string') return undefined;
  return typeof namespace === 'string' ? `${namespace}/${name}` : name;
}
