/** The warnings about two policies of the files that would change one container. Pure. */
import { policyKey, type ImagePolicy } from '../../model/image-policy.ts';
import type { RegistryAliases } from '../../model/image-reference.ts';
import { findSharedContainers, type Claim, type SharedContainers } from '../../plan/shared-containers.ts';
import { formatKeys } from '../../api-versions/validation/problem.ts';
import type { LintedFile } from './format-report.ts';
import type { LintProblem } from './lint-text.ts';
import type { WrittenPolicy } from './read-manifest.ts';

interface Located extends WrittenPolicy {
  readonly path: string;
}

/** The same files, each with the warnings about its policies. */
export function withSharedWarnings(files: readonly LintedFile[], aliases: RegistryAliases): readonly LintedFile[] {
  // Of a policy that is there several times, the last one counts, as when they are applied.
  const all = files.flatMap(({ path, manifests }) => manifests.policies.map((one): Located => ({ ...one, path })));
  const located = new Map(all.map((one) => [policyKey(one.policy), one]));
  const policies = [...located.values()].map(({ policy }) => policy);
  const workloads = files.flatMap(({ manifests }) => manifests.workloads);
  const found = findSharedContainers(policies, { workloads, aliases }).map((shared) => warn(shared, located));
  return files.map((file) => {
    const own = found.filter(({ path }) => path === file.path).map(({ warning }) => warning);
    return own.length === 0
      ? file
      : { ...file, warnings: [...(file.warnings ?? []), ...own].toSorted((a, b) => a.line - b.line || a.column - b.column) };
  });
}

function warn(shared: SharedContainers, located: ReadonlyMap<string, Located>): { readonly path: string; readonly warning: LintProblem } {
  const [mover, keeper] = [placeOf(shared.mover, located), placeOf(shared.keeper, located)];
  const message = describeShared(shared, `${nameOf(shared.keeper.policy)} (${keeper.path}:${keeper.line}:${keeper.column})`);
  const { path, line, column, field } = mover;
  return { path, warning: { line, column, policy: nameOf(shared.mover.policy), field, message, reason: 'SharedContainer' } };
}

/** What would happen to the containers that both policies have, and what to do; `other` is the policy that keeps them. */
export function describeShared({ mover, keeper, isMutual, where, containers }: SharedContainers, other: string): string {
  const [only] = containers;
  const what = containers.length === 0 ? 'containers' : `${containers.length === 1 ? 'container' : 'containers'} ${containers.join(', ')}`;
  const happens = isMutual
    ? `both would change ${what}, each to its own tag`
    : `this policy would change ${what} that the other one updates`;
  const areNamed = [mover, keeper].every(({ target }) => target.fields !== undefined || target.containers !== undefined);
  const advice =
    areNamed && only !== undefined
      ? `let only one of them name ${only}`
      : 'name in each target the containers that the policy is for, containers: [NAME]';
  return `${where} is also a target of ${other}, with the same image: ${happens}; ${advice}`;
}

function placeOf({ policy, target }: Claim, located: ReadonlyMap<string, Located>) {
  const one = located.get(policyKey(policy));
  if (one === undefined) throw new Error(`${policyKey(policy)} is in none of the files`);
  const keys = one.targetKeys(policy.spec.targets.indexOf(target));
  return { path: one.path, field: formatKeys(keys), ...one.positionOf(keys) };
}

/** A file need not say the namespace. */
function nameOf({ namespace, name }: Pick<ImagePolicy, 'namespace' | 'name'>): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
