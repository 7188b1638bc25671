/**
 * Finds companions that another policy changes as well, as its own image or as its companion: each of the two would make a mixed pair for the other. The service
 * refuses such changes, and `lint` warns of such policies. Pure.
 */
import { isUsable, policyKey, type ImagePolicy, type PolicySpec } from '../model/image-policy.ts';
import { formatRepository, sameRepository, tryParseImageReference, type RegistryAliases } from '../model/image-reference.ts';
import { isTargetContainer } from '../model/resolve-target.ts';
import { formatWorkload, imagesOf, type Workload } from '../model/workload.ts';
import { companionsIn } from './plan-companions.ts';
import type { TargetPlan } from './plan-update.ts';

/** A policy with companions, and how what it runs is seen. */
export interface Sharing {
  readonly policy: Pick<ImagePolicy, 'uid' | 'namespace'>;
  readonly spec: PolicySpec;
  readonly aliases: RegistryAliases;
}

/** The policies that change a workload. */
export type PoliciesOf = (workload: Workload) => readonly ImagePolicy[];

/** The plan in which a workload is not changed whose companions another policy changes as well. It says so even while there is nothing to change. */
export function refuseShared(plan: TargetPlan, sharing: Sharing, policiesOf: PoliciesOf): TargetPlan {
  const { workload, problem } = plan;
  const message = workload === undefined || problem !== undefined ? undefined : whyShared(workload, sharing, policiesOf);
  if (message === undefined) return plan;
  const kept = plan.changes.map(({ container, from }) => ({ container, image: from, reason: 'CompanionShared' as const, message }));
  return { ...plan, changes: [], unchanged: [...plan.unchanged, ...kept], problem: { reason: 'CompanionShared', message } };
}

/** Which other policy changes a companion of a workload; undefined if none does. Policies of other namespaces are not named. */
export function whyShared(workload: Workload, { policy, spec, aliases }: Sharing, policiesOf: PoliciesOf): string | undefined {
  if (spec.alongside === undefined) return undefined;
  for (const other of policiesOf(workload)) {
    if (other.uid === policy.uid || !isUsable(other.spec)) continue;
    const [shared] = sharedIn(workload, spec, other.spec, aliases);
    if (shared === undefined) continue;
    const who = other.namespace === policy.namespace ? `ImagePolicy ${policyKey(other)}` : 'another ImagePolicy';
    return `${who} changes ${shared} of ${formatWorkload(workload)} as well: take it out of one of the two`;
  }
  return undefined;
}

/** The containers of companions of one policy that the other one changes. */
export function sharedIn(workload: Workload, spec: PolicySpec, other: PolicySpec, aliases: RegistryAliases): string[] {
  // Without its own image, a policy changes nothing of a workload.
  if (!isChanging(other) || changedBy(spec, workload, aliases).size === 0) return [];
  const theirs = changedBy(other, workload, aliases);
  return companionsIn(workload, spec, aliases).flatMap(({ container }) => (theirs.has(container) ? [container] : []));
}

/** The companions of one policy that the other one also changes, as far as the policies alone show it. */
export function sharedImages({ alongside }: PolicySpec, other: PolicySpec): string[] {
  if (alongside === undefined || !isChanging(other)) return [];
  const theirs = [
    { repository: other.repository, containers: namedContainers(other) },
    ...(other.alongside?.images ?? []).map(({ repository, containers }) => ({ repository, containers })),
  ];
  return alongside.images.flatMap(({ repository, containers }) => {
    const isShared = theirs.some((one) => sameRepository(one.repository, repository) && overlap(one.containers, containers));
    return isShared ? [formatRepository(repository)] : [];
  });
}

/** Whether a policy may change workloads: it is not suspended, and does not only report. */
export function isChanging({ suspended, mode }: PolicySpec): boolean {
  return !suspended && mode !== 'DryRun';
}

/** The containers that the targets name; undefined if one of them names none. */
function namedContainers({ targets }: PolicySpec): readonly string[] | undefined {
  return targets.every(({ containers }) => containers !== undefined) ? targets.flatMap(({ containers = [] }) => containers) : undefined;
}

function overlap(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  return one === undefined || other === undefined || one.some((name) => other.includes(name));
}

/** The containers of a workload that a policy changes: those that run its own image, and their companions. */
function changedBy(spec: PolicySpec, workload: Workload, aliases: RegistryAliases): ReadonlySet<string> {
  const own = imagesOf(workload).flatMap(({ container: { name, image } }) => {
    const reference = tryParseImageReference(image, aliases);
    const isOwn = reference !== undefined && sameRepository(reference.repository, spec.repository);
    return isOwn && spec.targets.some((target) => isTargetContainer(target, workload, name)) ? [name] : [];
  });
  return new Set(own.length === 0 ? [] : [...own, ...companionsIn(workload, spec, aliases).map(({ container }) => container)]);
}
