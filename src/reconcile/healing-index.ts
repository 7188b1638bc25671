import { policyKey, type ImagePolicy } from '../model/image-policy.ts';
import { mayBeHealedBySecret } from './needs-reconcile.ts';

type PolicyName = Pick<ImagePolicy, 'namespace' | 'name'>;

/** By namespace, the policies that are Stalled for a reason that a changed Secret may clear: usually none, so changes of Secrets cost nothing. */
export interface HealingIndex {
  put(policy: ImagePolicy): void;
  remove(policy: PolicyName): void;
  /** The policies of one namespace or, for undefined, of all. */
  stalledIn(namespace: string | undefined): readonly PolicyName[];
}

/** An empty index. */
export function createHealingIndex(): HealingIndex {
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
      if (!mayBeHealedBySecret(policy)) return;
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
