import { compilePattern } from '../../model/pattern.ts';
import type { Finding } from '../rules.ts';
import { checkImageName, describeSpelling, isSpeltRight } from '../v1-fields/image.ts';
import { specSchema } from '../v1alpha1.ts';
import { checkRange } from './check-tags.ts';
import { checkTargetKind, knownKinds } from './check-targets.ts';
import { findingOf, valueAt, problem, type Problem } from './problem.ts';
import { specProblems } from './spec-problems.ts';

/** Everything that is wrong with the spec of a v1alpha1 policy. */
export function v1alpha1Problems(spec: unknown): Problem[] {
  return [...specProblems(specSchema, spec, {}), ...imageProblems(spec), ...tagPolicyProblems(spec), ...kindProblems(spec)];
}

function imageProblems(spec: unknown): Problem[] {
  const repository = valueAt(spec, ['repository']);
  if (typeof repository !== 'string' || repository === '') return [];
  if (/@|:[^/]*$/.test(repository)) {
    return [problem(['spec', 'repository'], 'write only the repository, without a tag or digest: tagPolicy chooses the tag')];
  }
  if (!isSpeltRight(repository)) return [problem(['spec', 'repository'], describeSpelling(repository))];
  return at(['repository'], checkImageName(repository));
}

function tagPolicyProblems(spec: unknown): Problem[] {
  const strategy = valueAt(spec, ['tagPolicy', 'strategy']);
  const pattern = valueAt(spec, ['tagPolicy', 'pattern']);
  const keys = ['tagPolicy', 'pattern'];
  if (strategy === 'Regex' && (pattern === undefined || pattern === null || pattern === '')) {
    return at(keys, [{ message: 'is missing: the strategy Regex needs an RE2 expression', reason: 'InvalidTagPolicy' }]);
  }
  if (typeof pattern !== 'string') return [];
  if (strategy === 'Regex')
    return at(
      keys,
      findingOf(() => compilePattern(pattern)),
    );
  return strategy === 'SemVer' ? at(keys, checkRange(pattern)) : [];
}

function kindProblems(spec: unknown): Problem[] {
  const kind = valueAt(spec, ['updateTarget', 'kind']);
  if (checkTargetKind({ kind }).length === 0) return [];
  const message = `"${String(kind)}" is none of ${Object.keys(knownKinds).join(', ')}: for other kinds write the policy in v1`;
  return [problem(['spec', 'updateTarget', 'kind'], message, 'UnsupportedTargetKind')];
}

function at(keys: readonly string[], findings: readonly Finding[]): Problem[] {
  return findings.map(({ message, reason }) => problem(['spec', ...keys], message, reason));
}
