import { formatRepository, type Repository } from '../model/image-reference.ts';
import { type ImagePolicy, isUsable, policyKey, mayBeClearedBySecret } from '../model/image-policy.ts';
import { formatSelector, type LabelSelector, matchesSelector } from '../model/label-selector.ts';
import { kindKey, type KindRef, type Workload, workloadKey, type WorkloadRef } from '../model/workload.ts';
import type { Asker } from '../plan/consent.ts';

/** Policies by the repository they watch: a push finds its policies in one lookup, however many there are. */
export interface PolicyIndex {
  put(policy: ImagePolicy): void;
  remove(policy: { namespace: string; name: string }): void;
  /** The policies of exactly this repository (never of a longer name), sorted by name. */
  match(repository: Repository): ImagePolicy[];
}

/** An empty index. */
export function createPolicyIndex(): PolicyIndex {
  const byRepository = new Map<string, Map<string, ImagePolicy>>();
  const repositoryOf = new Map<string, string>();

  const remove = (policy: { namespace: string; name: string }) => {
    const key = policyKey(policy);
    const repository = repositoryOf.get(key);
    if (repository === undefined) return;
    repositoryOf.delete(key);
    const policies = byRepository.get(repository);
    policies?.delete(key);
    if (policies?.size === 0) byRepository.delete(repository);
  };

  return {
    remove,
    put(policy) {
      remove(policy);
      if (!isUsable(policy.spec)) return;
      const repository = formatRepository(policy.spec.repository);
      repositoryOf.set(policyKey(policy), repository);
      let policies = byRepository.get(repository);
      if (policies === undefined) byRepository.set(repository, (policies = new Map()));
      policies.set(policyKey(policy), policy);
    },
    match(repository) {
      const policies = byRepository.get(formatRepository(repository));
      if (policies === undefined) return [];
      return [...policies.values()].sort((a, b) => (policyKey(a) < policyKey(b) ? -1 : 1));
    },
  };
}

type PolicyName = Pick<ImagePolicy, 'namespace' | 'name'>;

/** By namespace, the policies that are Stalled for a reason that a changed Secret may clear: usually none, so changes of Secrets cost nothing. */
export interface StalledIndex {
  put(policy: ImagePolicy): void;
  remove(policy: PolicyName): void;
  /** The policies of one namespace or, for undefined, of all. */
  stalledIn(namespace: string | undefined): readonly PolicyName[];
}

/** An empty index. */
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

/** Policies by the workloads that they target, so that one lookup finds the policies of a changed workload. */
export interface TargetIndex {
  put(policy: ImagePolicy): void;
  remove(policy: PolicyName): void;
  /** The policies that select this workload, limited to those that may see it (`maySee`). */
  policiesOf(workload: WorkloadRef & Pick<Workload, 'labels'>, maySee: (asker: Asker) => boolean): readonly PolicyName[];
}

interface IndexedTarget {
  readonly policy: PolicyName;
  /** Undefined where the target names the workload. */
  readonly selector?: LabelSelector;
}

/** An empty index. A selector is tried only on workloads of its kind and namespace. */
export function createTargetIndex(): TargetIndex {
  // Grouped by the namespace of the policies: there are many policies, and one question decides whether all of a namespace may see a workload.
  const byTarget = new Map<string, Map<string, Map<string, IndexedTarget>>>();
  const targetKeysOf = new Map<string, (readonly [targetKey: string, claim: string])[]>();
  const remove = (policy: PolicyName) => {
    const key = policyKey(policy);
    for (const [targetKey, claim] of targetKeysOf.get(key) ?? []) {
      const askers = byTarget.get(targetKey);
      const claims = askers?.get(policy.namespace);
      claims?.delete(claim);
      if (claims?.size === 0) askers?.delete(policy.namespace);
      if (askers?.size === 0) byTarget.delete(targetKey);
    }
    targetKeysOf.delete(key);
  };
  return {
    remove,
    put(policy) {
      remove(policy);
      if (!isUsable(policy.spec)) return;
      const { namespace, name } = policy;
      const key = policyKey(policy);
      const keys = policy.spec.targets.map((target) => {
        const { selector } = target;
        const targetKey = selector === undefined ? workloadKey(target) : selectorKey(target, target.namespace);
        const claim = selector === undefined ? key : `${key} ${formatSelector(selector)}`;
        const askers = byTarget.get(targetKey) ?? new Map<string, Map<string, IndexedTarget>>();
        const claims = askers.get(namespace) ?? new Map<string, IndexedTarget>();
        claims.set(claim, { policy: { namespace, name }, ...(selector !== undefined && { selector }) });
        byTarget.set(targetKey, askers.set(namespace, claims));
        return [targetKey, claim] as const;
      });
      targetKeysOf.set(key, keys);
    },
    policiesOf(workload, maySee) {
      // Consent was not always required: only a policy that names a single target may predate it.
      const named = [...(byTarget.get(workloadKey(workload)) ?? [])].filter(([namespace]) => maySee({ namespace, legacyTarget: workload }));
      const selecting = byTarget.get(selectorKey(workload, workload.namespace)) ?? [];
      const selected = [...selecting].filter(([namespace]) => maySee({ namespace }));
      const claims = [...named, ...selected].flatMap(([, claims]) => [...claims.values()]);
      const matching = claims.filter(({ selector }) => selector === undefined || matchesSelector(selector, workload.labels));
      return [...new Map(matching.map(({ policy }) => [policyKey(policy), policy])).values()];
    },
  };
}

/** The key for selectors. It is never that of a workload, because no name is a star. */
function selectorKey(kind: KindRef, namespace: string): string {
  return `${kindKey(kind)}/${namespace}/*`;
}
