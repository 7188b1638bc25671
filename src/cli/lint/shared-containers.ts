/**
 * Finds the containers that two policies would change in turns: of one image, where one changes what the other one keeps, or by companions. Pure.
 *
 * What runs is known where the workload is: then each policy decides about it. Where only the policies are known, each decides about tags that the other one selects.
 */
import { defined } from '../../core/model/defined.ts';
import { isUsable, policyKey, type ImagePolicy, type PolicySpec, type PolicyTarget } from '../../core/model/image-policy.ts';
import { formatRepository, tryParseImageReference, type ImageReference, type RegistryAliases } from '../../core/model/image-reference.ts';
import { formatSelector } from '../../core/model/label-selector.ts';
import { isTargetContainer, matchesTarget } from '../../core/model/resolve-target.ts';
import { formatWorkload, imagesOf, kindKey, refOf, workloadKey, type Workload } from '../../core/model/workload.ts';
import { sampleTags } from './sample-tags.ts';
import { decideImage } from '../../core/plan/decide-image.ts';
import { pastOf } from '../../core/plan/guards/last-change.ts';
import { isChanging, sharedImages, sharedIn } from '../../core/plan/shared-companions.ts';
import { tracksOf } from '../../core/plan/tracks.ts';

/** A policy, and its target that selects a container. */
export interface Claim {
  readonly policy: ImagePolicy & { readonly spec: PolicySpec };
  readonly target: PolicyTarget;
}

/** Containers of one workload that two policies would change. */
export interface SharedContainers {
  /** The policy that would change the image that the other one keeps. */
  readonly mover: Claim;
  readonly keeper: Claim;
  /** Whether the other policy would also change the image of this one. */
  readonly isMutual: boolean;
  /** The workload or the selector: `Deployment shop/web`, or `each Deployment of shop that matches app=web`. */
  readonly where: string;
  /** The names of the containers, if they are known; empty for all that run the image. */
  readonly containers: readonly string[];
  /** The companions that the mover changes alongside its own image, and that the keeper changes as well; absent where both are for the same image. */
  readonly companions?: readonly string[];
}

/** The known workloads, aliases and tags. */
export interface Known {
  readonly workloads: readonly Workload[];
  readonly aliases: RegistryAliases;
  /** The tags that a policy selects, if they were read from the registry. Otherwise usual tags are tried. */
  readonly tagsOf?: ((policy: ImagePolicy) => readonly string[] | undefined) | undefined;
}

/** For each pair of policies with a common container, the first workload where one would change the image of the other. */
export function findSharedContainers(policies: readonly ImagePolicy[], known: Known): readonly SharedContainers[] {
  const found = findShared(policies, known);
  const isKnown = (one: SharedContainers) => found.some((other) => pairOf(one.mover, one.keeper) === pairOf(other.mover, other.keeper));
  return [...found, ...findSharedCompanions(policies, known).filter((one) => !isKnown(one))];
}

/** For each pair of policies, the first workload with a companion of one that the other one changes as well. */
function findSharedCompanions(policies: readonly ImagePolicy[], { workloads, aliases }: Known): readonly SharedContainers[] {
  const found = new Map<string, SharedContainers>();
  const all = claimsOf(policies);
  const places = all.some(({ policy }) => policy.spec.alongside !== undefined) ? placesAmong(all, workloads) : [];
  for (const { workload, where, claims } of places)
    for (const mover of claims)
      for (const keeper of claims) {
        const key = pairOf(mover, keeper);
        if (mover.policy === keeper.policy || found.has(key) || !isChanging(mover.policy.spec)) continue;
        const [spec, other] = [mover.policy.spec, keeper.policy.spec];
        const companions = sharedImages(spec, other);
        const containers = workload === undefined ? [] : sharedIn(workload, spec, other, aliases);
        const isShared = workload === undefined ? companions.length > 0 : containers.length > 0;
        if (isShared) found.set(key, { mover, keeper, isMutual: true, where, containers, companions });
      }
  return [...found.values()];
}

function pairOf(one: Claim, other: Claim): string {
  return JSON.stringify([policyKey(one.policy), policyKey(other.policy)].toSorted());
}

function claimsOf(policies: readonly ImagePolicy[]): Claim[] {
  return policies.flatMap((policy) =>
    isUsable(policy.spec) ? policy.spec.targets.map((target): Claim => ({ policy: policy as Claim['policy'], target })) : [],
  );
}

function findShared(policies: readonly ImagePolicy[], known: Known): readonly SharedContainers[] {
  const claims = claimsOf(policies);
  const found = new Map<string, SharedContainers>();
  const tagsOf = rememberTags(claims, known);
  for (const { workload, where, claims: here } of placesOf(claims, known.workloads)) {
    const policies = here.map(({ policy }) => policy);
    for (const [index, one] of here.entries())
      for (const other of here.slice(index + 1)) {
        const key = pairOf(one, other);
        if (one.policy === other.policy || found.has(key)) continue;
        const shared = compare(one, other, { ...known, tagsOf, workload, policies });
        if (shared !== undefined) found.set(key, { ...shared, where });
      }
  }
  return [...found.values()];
}

/** Caches the tags of each policy. */
function rememberTags(claims: readonly Claim[], { tagsOf }: Known): Scene['tagsOf'] {
  const replaced = claims.flatMap(({ policy }) => policy.spec.strategy.replaces ?? []);
  const remembered = new Map<ImagePolicy, readonly string[]>();
  return (policy) => {
    const tags = remembered.get(policy) ?? tagsOf?.(policy) ?? sampleTags(policy.spec.strategy, replaced);
    remembered.set(policy, tags);
    return tags;
  };
}

/** A workload, or its name alone, and the claims to it. */
interface Place {
  readonly workload: Workload | undefined;
  readonly where: string;
  readonly claims: readonly Claim[];
}

/** The places with several claims of one repository. */
function placesOf(claims: readonly Claim[], workloads: readonly Workload[]): Place[] {
  const byRepository = Map.groupBy(claims, ({ policy }) => formatRepository(policy.spec.repository));
  return [...byRepository.values()].flatMap((own) => placesAmong(own, workloads));
}

/** The places with several claims. Without workloads, only equal names and equal selectors count, because unknown labels could match everything. */
function placesAmong(claims: readonly Claim[], workloads: readonly Workload[]): Place[] {
  const seen = workloads.map((workload) => ({
    workload,
    where: formatWorkload(workload),
    claims: claims.filter(({ target }) => matchesTarget(target, workload)),
  }));
  const known = new Set(workloads.map(workloadKey));
  const matched = new Set(seen.flatMap((place) => place.claims).filter(({ target }) => target.selector !== undefined));
  const unseen = claims.filter((claim) =>
    claim.target.selector === undefined ? !known.has(workloadKey(claim.target)) : !matched.has(claim),
  );
  const alike = [...Map.groupBy(unseen, ({ target }) => keyOf(target)).values()].map((group) => ({
    workload: undefined,
    where: nameOf(group[0]?.target),
    claims: group,
  }));
  return [...seen, ...alike].filter((place) => place.claims.length > 1);
}

function keyOf(target: PolicyTarget): string {
  if (target.selector === undefined) return workloadKey(target);
  const { matchLabels = {}, matchExpressions = [] } = target.selector;
  const labels = Object.entries(matchLabels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const sorted = {
    matchLabels: Object.fromEntries(labels),
    matchExpressions: matchExpressions.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
  };
  return `${kindKey(target)}/${target.namespace}/*${formatSelector(sorted)}`;
}

function nameOf(target: PolicyTarget | undefined): string {
  if (target === undefined) return '';
  if (target.selector === undefined) return formatWorkload(target);
  return `each ${target.kind} of ${target.namespace} that matches ${formatSelector(target.selector)}`;
}

/** The known facts at a place with two claims. */
interface Scene extends Pick<Known, 'aliases'> {
  readonly workload: Workload | undefined;
  /** All policies with a claim to the place. A tag that a third one follows is not changed. */
  readonly policies: readonly ImagePolicy[];
  readonly tagsOf: (policy: Claim['policy']) => readonly string[];
}

type Compared = Omit<SharedContainers, 'where'>;

function compare(one: Claim, other: Claim, known: Scene): Compared | undefined {
  const { workload } = known;
  const shared = workload === undefined ? namesInCommon(one, other) : imagesInCommon(one, other, { ...known, workload });
  const found = shared.flatMap((at) => {
    const [first, second] = [wouldMove(one, other, at, known), wouldMove(other, one, at, known)];
    return first || second ? [{ at, first, second }] : [];
  });
  if (found.length === 0) return undefined;
  const containers = found.flatMap(({ at }) => at.container ?? []);
  const [first, second] = [found.some((place) => place.first), found.some((place) => place.second)];
  // If each policy changes the image of the other, the later one in the list is the mover.
  const [mover, keeper] = second ? [other, one] : [one, other];
  return { mover, keeper, isMutual: first && second, containers };
}

/** A container that both policies select; without a name, any. */
interface Common {
  readonly container?: string;
  /** The running image, if it is known. */
  readonly running?: ImageReference | undefined;
}

function imagesInCommon(one: Claim, other: Claim, { workload, aliases }: Scene & { readonly workload: Workload }): Common[] {
  if (one.target.fields !== undefined || other.target.fields !== undefined) return namesInCommon(one, other);
  return imagesOf(workload).flatMap(({ container: { name, image } }) => {
    const running = tryParseImageReference(image, aliases);
    const isOurs = running !== undefined && formatRepository(running.repository) === formatRepository(one.policy.spec.repository);
    const isBoth = isTargetContainer(one.target, workload, name) && isTargetContainer(other.target, workload, name);
    return isOurs && isBoth ? [{ container: name, running }] : [];
  });
}

function namesInCommon({ target: one }: Claim, { target: other }: Claim): Common[] {
  if (one.fields !== undefined || other.fields !== undefined) {
    const [mine, theirs] = [one, other].map(({ fields = {} }) => [fields.image, fields.tag].filter((path) => path !== undefined));
    return (mine ?? []).filter((path) => theirs?.includes(path)).map((container) => ({ container }));
  }
  if (one.containers === undefined && other.containers === undefined) return [{}];
  const names = one.containers ?? other.containers ?? [];
  return names.filter((name) => other.containers?.includes(name) !== false).map((container) => ({ container }));
}

/** Whether a policy would change the image that another one has chosen for a container. */
function wouldMove(mover: Claim, keeper: Claim, { container, running }: Common, known: Scene): boolean {
  const { mode, suspended } = mover.policy.spec;
  if (mode === 'DryRun' || suspended) return false;
  const isNamed = (claim: Claim) => container !== undefined && claim.target.containers?.includes(container) === true;
  // The policy that names a container is intended to change it, so the problem is reported for the other one.
  if (isNamed(mover) && !isNamed(keeper)) return false;
  const tags = ({ policy }: Claim) => known.tagsOf(policy);
  const changes = (claim: Claim, tag: string | undefined) =>
    tags(claim).some((candidate) => candidate !== tag && decide(claim, { tag, candidate, container }, known));
  if (running === undefined) return tags(keeper).some((tag) => changes(mover, tag));
  const { tag } = running;
  const isWanted = (claim: Claim) => tag !== undefined && claim.policy.spec.strategy.reject(tag) === undefined;
  if (isWanted(mover) && !isWanted(keeper)) return false;
  return changes(mover, tag) && (isWanted(keeper) || changes(keeper, tag));
}

interface Decided {
  readonly tag: string | undefined;
  readonly candidate: string;
  readonly container: string | undefined;
}

/** Whether a policy changes a running tag to a candidate, as the service would. */
function decide({ policy, target }: Claim, { tag, candidate, container = '' }: Decided, { workload, policies }: Scene): boolean {
  const { spec } = policy;
  const { repository } = spec;
  const name = formatRepository(repository);
  const running: ImageReference = { repository, name, ...defined({ tag }) };
  const isNamed = target.takeOver === true || target.fields !== undefined || target.containers?.includes(container) === true;
  const where = { workload: workload ?? unseen(target), container, image: `${name}:${tag}`, isNamed };
  const tracks = tracksOf(policy, spec, () => policies);
  return (
    decideImage(running, where, { spec, candidate: { tag: candidate }, ...pastOf(policy), tracks, status: policy.status }) === 'change'
  );
}

/** A workload of which only the name is known. */
function unseen(target: PolicyTarget): Workload {
  const ref = refOf({ ...target, name: target.name ?? '' });
  const nothing = { uid: '', generation: 0, resourceVersion: '', containersPath: '', containers: [], hasAnnotations: false };
  return { apiVersion: '', ...ref, ...nothing };
}
