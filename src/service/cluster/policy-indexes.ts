import { formatRepository, type Repository } from '../../core/model/image-reference.ts';
import {
  type ImagePolicy,
  isUsable,
  type PolicyName,
  policyKey,
  scopeOf,
  mayBeClearedBySecret,
  type PolicyTarget,
} from '../../core/model/image-policy.ts';
import { formatSelector, type LabelSelector, matchesSelector } from '../../core/model/label-selector.ts';
import { kindKey, type KindRef, type Workload, workloadKey, type WorkloadRef } from '../../core/model/workload.ts';
import type { Asker } from '../../core/plan/consent.ts';
import { createGroups } from '../../core/async/groups.ts';

/** Policies by the repository they watch. A push finds its policies in one lookup, however many there are. */
export interface PolicyIndex {
  put(policy: ImagePolicy): void;
  remove(policy: { namespace: string; name: string }): void;
  /** The policies of exactly this repository (never of a longer name), sorted by name. */
  match(repository: Repository): ImagePolicy[];
}

/** The repository that a policy watches. */
function repositoryOf({ spec }: ImagePolicy): Repository[] {
  const scope = scopeOf(spec);
  return scope === undefined ? [] : [scope.repository];
}

/** The repositories of the companions of a policy. */
export function companionRepositories({ spec }: ImagePolicy): Repository[] {
  return isUsable(spec) ? (spec.alongside?.images ?? []).map(({ repository }) => repository) : [];
}

/** Creates an empty index by repository: the one that a policy watches, unless others are asked for. */
export function createPolicyIndex(repositoriesOf: (policy: ImagePolicy) => readonly Repository[] = repositoryOf): PolicyIndex {
  const byRepository = createGroups<ImagePolicy>(policyKey);
  const known = new Map<string, readonly Repository[]>();

  const remove = (policy: { namespace: string; name: string }) => {
    const key = policyKey(policy);
    for (const repository of known.get(key) ?? []) byRepository.remove(formatRepository(repository), key);
    known.delete(key);
  };

  return {
    remove,
    put(policy) {
      remove(policy);
      const repositories = repositoriesOf(policy);
      if (repositories.length === 0) return;
      known.set(policyKey(policy), repositories);
      for (const repository of repositories) byRepository.set(formatRepository(repository), policy);
    },
    match: (repository) =>
      [...byRepository.get(formatRepository(repository)).values()].sort((a, b) => (policyKey(a) < policyKey(b) ? -1 : 1)),
  };
}

/** The policies that are Stalled for a reason that a changed Secret may clear, by namespace. Usually there are none, so changes of Secrets cost nothing. */
export interface StalledIndex {
  put(policy: ImagePolicy): void;
  remove(policy: PolicyName): void;
  /** The policies of one namespace or, for undefined, of all. */
  stalledIn(namespace: string | undefined): readonly PolicyName[];
}

/** Creates an empty index of Stalled policies. */
export function createStalledIndex(): StalledIndex {
  const byNamespace = new Map<string, Map<string, PolicyName>>();
  const remove = (policy: PolicyName) => {
    const policies = byNamespace.get(policy.namespace);
    policies?.delete(policyKey(policy));
    if (policies?.size === 0) byNamespace.delete(policy.namespace);
  };
  return {
    remove,
    put(policy) {
      remove(policy);
      if (!mayBeClearedBySecret(policy)) return;
      const { namespace, name } = policy;
      const policies = byNamespace.get(namespace) ?? new Map<string, PolicyName>();
      byNamespace.set(namespace, policies.set(policyKey(policy), { namespace, name }));
    },
    stalledIn(namespace) {
      const found = namespace === undefined ? [...byNamespace.values()] : [byNamespace.get(namespace) ?? new Map<string, PolicyName>()];
      return found.flatMap((policies) => [...policies.values()]);
    },
  };
}

/** Policies by those that they follow, so that a change of one of these finds its followers. */
export interface FollowerIndex {
  put(policy: ImagePolicy): void;
  remove(policy: PolicyName): void;
  /** The policies that name this one. Whether they may see it is another question. */
  followersOf(policy: PolicyName): readonly PolicyName[];
}

/** Creates an empty index of followers. */
export function createFollowerIndex(): FollowerIndex {
  const byFollowed = createGroups<PolicyName>(policyKey);
  const followedBy = new Map<string, readonly PolicyName[]>();
  const remove = (policy: PolicyName) => {
    const key = policyKey(policy);
    for (const followed of followedBy.get(key) ?? []) byFollowed.remove(policyKey(followed), key);
    followedBy.delete(key);
  };
  return {
    remove,
    put(policy) {
      remove(policy);
      const followed = isUsable(policy.spec) ? policy.spec.after?.policies : undefined;
      if (followed === undefined) return;
      const { namespace, name } = policy;
      for (const one of followed) byFollowed.set(policyKey(one), { namespace, name });
      followedBy.set(policyKey(policy), followed);
    },
    followersOf: (policy) => [...byFollowed.get(policyKey(policy)).values()],
  };
}

/** Policies by the workloads that they target, so that one lookup finds the policies of a changed workload. */
export interface TargetIndex {
  put(policy: ImagePolicy): void;
  remove(policy: PolicyName): void;
  /** The policies that select this workload, limited to those that may see it (`maySee`). */
  policiesOf(workload: WorkloadRef & Pick<Workload, 'labels'>, maySee: (asker: Asker) => boolean): readonly PolicyName[];
}

interface IndexedTarget extends PolicyName {
  /** The selector of the target; undefined if the target names the workload. */
  readonly selector?: LabelSelector;
}

/** Creates an empty index by target. A selector is tried only on workloads of its kind and namespace. */
export function createTargetIndex(): TargetIndex {
  const byTarget = createGroups<IndexedTarget>(nameOf);
  const targetsOf = new Map<string, readonly PolicyTarget[]>();
  const remove = (policy: PolicyName) => {
    const key = policyKey(policy);
    for (const target of targetsOf.get(key) ?? []) byTarget.remove(targetKey(target), nameOf(indexed(policy, target)));
    targetsOf.delete(key);
  };
  return {
    remove,
    put(policy) {
      remove(policy);
      const { targets = [] } = scopeOf(policy.spec) ?? {};
      if (targets.length === 0) return;
      for (const target of targets) byTarget.set(targetKey(target), indexed(policy, target));
      targetsOf.set(policyKey(policy), targets);
    },
    policiesOf(workload, maySee) {
      // Only a policy that names a single target may be older than the requirement of consent.
      const naming = askedOnce((namespace) => maySee({ namespace, legacyTarget: workload }));
      const selecting = askedOnce((namespace) => maySee({ namespace }));
      const named = [...byTarget.get(workloadKey(workload)).values()].filter(({ namespace }) => naming(namespace));
      const selected = [...byTarget.get(selectorKey(workload, workload.namespace)).values()].filter(
        ({ namespace, selector = {} }) => selecting(namespace) && matchesSelector(selector, workload.labels),
      );
      const matching = [...named, ...selected];
      return [...new Map(matching.map((policy) => [policyKey(policy), policy])).values()];
    },
  };
}

function indexed({ namespace, name }: PolicyName, { selector }: PolicyTarget): IndexedTarget {
  return selector === undefined ? { namespace, name } : { namespace, name, selector };
}

/** Distinguishes targets of different policies that have the same key. */
function nameOf({ selector, ...policy }: IndexedTarget): string {
  return selector === undefined ? policyKey(policy) : `${policyKey(policy)} ${formatSelector(selector)}`;
}

/** Caches the answer for each namespace, because it is the same for all of the possibly many policies of the namespace. */
function askedOnce(ask: (namespace: string) => boolean): (namespace: string) => boolean {
  const answers = new Map<string, boolean>();
  return (namespace) => {
    const answer = answers.get(namespace) ?? ask(namespace);
    answers.set(namespace, answer);
    return answer;
  };
}

function targetKey(target: PolicyTarget): string {
  return target.selector === undefined ? workloadKey(target) : selectorKey(target, target.namespace);
}

/** The key for selectors. It is never that of a workload, because no name is a star. */
function selectorKey(kind: KindRef, namespace: string): string {
  return `${kindKey(kind)}/${namespace}/*`;
}
