import { formatRepository, type Repository } from '../model/image-reference.ts';
import { isUsable, policyKey, type ImagePolicy } from '../model/image-policy.ts';

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
