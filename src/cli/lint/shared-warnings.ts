/** Warnings about two policies that would change the same container. Pure. */
import { formatKeys, type Keys } from '../../service/resources/validation/problem.ts';
import { policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { findSharedContainers, type Claim, type Known, type SharedContainers } from './shared-containers.ts';
import type { LintProblem } from './lint-text.ts';
import type { Position } from '../manifests/read-documents.ts';

/** A policy to lint, and its position in a file. */
export interface LocatedPolicy {
  readonly path: string;
  readonly policy: ImagePolicy;
  /** The position of a field; absent for a policy of the cluster. */
  readonly positionOf?: (keys: Keys) => Position;
  /** The location of a target, by its index. */
  readonly targetKeys: (index: number) => Keys;
}

/** A warning, and the file that contains the policy. */
export interface FileWarning {
  readonly path: string;
  readonly warning: LintProblem;
}

/** The warnings about pairs of policies of which at least one is linted. `others` are policies of the cluster. */
export function sharedWarnings(all: readonly LocatedPolicy[], known: Known, others: readonly ImagePolicy[] = []): readonly FileWarning[] {
  // Of several policies with the same name, the last one counts, as when they are applied.
  const located = new Map(all.map((one) => [policyKey(one.policy), one]));
  const policies = [...located.values()].map(({ policy }) => policy);
  const rest = others.filter((other) => !located.has(policyKey(other)));
  return findSharedContainers([...policies, ...rest], known).flatMap((shared) => warn(shared, located));
}

function warn(shared: SharedContainers, located: ReadonlyMap<string, LocatedPolicy>): FileWarning[] {
  const { mover, keeper } = shared;
  const at = placeOf(mover, located) === undefined ? keeper : mover;
  const [place, other] = [placeOf(at, located), at === mover ? keeper : mover];
  if (place === undefined) return [];
  const { path, ...position } = place;
  const elsewhere = placeOf(other, located);
  const where = elsewhere?.line === undefined ? '' : ` (${elsewhere.path}:${elsewhere.line}:${elsewhere.column})`;
  const message = describeShared(shared, `${nameOf(other.policy)}${where}`);
  return [{ path, warning: { ...position, policy: nameOf(at.policy), message, reason: 'SharedContainer' } }];
}

/** Describes what would happen to the containers that both policies select, and what to do. */
function describeShared(shared: SharedContainers, other: string): string {
  const { mover, keeper, isMutual, where, containers, companions } = shared;
  if (companions !== undefined) return describeCompanions({ ...shared, companions }, other);
  const [only] = containers;
  const what = only === undefined ? 'containers' : `${containers.length === 1 ? 'container' : 'containers'} ${containers.join(', ')}`;
  const happens = isMutual
    ? `both would change ${what}, each to its own tag`
    : `${nameOf(mover.policy)} would change ${what} that ${nameOf(keeper.policy)} updates`;
  const areNamed = [mover, keeper].every(({ target }) => target.fields !== undefined || target.containers !== undefined);
  const advice =
    areNamed && only !== undefined
      ? `let only one of them name ${only}`
      : 'name in each target the containers that the policy is for, containers: [NAME]';
  return `${where} is also a target of ${other}, with the same image: ${happens}; ${advice}`;
}

/** Describes what both policies change, one of them alongside its own image. */
function describeCompanions(
  { mover, keeper, where, containers, companions }: SharedContainers & { readonly companions: readonly string[] },
  other: string,
): string {
  const what = containers.length > 0 ? containers.join(', ') : companions.join(', ');
  return `${where} is also a target of ${other}: ${nameOf(mover.policy)} changes ${what} alongside its own image, and ${nameOf(keeper.policy)} as well, so that nothing is changed (CompanionShared); take it out of spec.alongside, or out of the targets of the other one`;
}

function placeOf({ policy, target }: Claim, located: ReadonlyMap<string, LocatedPolicy>) {
  const one = located.get(policyKey(policy));
  if (one === undefined) return undefined;
  const keys = one.targetKeys(policy.spec.targets.indexOf(target));
  return { path: one.path, field: formatKeys(keys), ...one.positionOf?.(keys) };
}

/** The name of a policy. A file need not contain the namespace. */
function nameOf({ namespace, name }: Pick<ImagePolicy, 'namespace' | 'name'>): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
