/** The BaseImagePolicies with the defaults of their namespace and of the cluster. */
import { isDeepStrictEqual } from 'node:util';
import { type BaseImagePolicy, isUsableBase } from '../core/model/base-policy.ts';
import { defined } from '../core/model/defined.ts';
import { baseSettings, matchingDefaults, type SettingValues } from '../core/model/policy-defaults.ts';
import type { NamespaceContext } from '../service/cluster/effective-policies.ts';
import { createDerivedStore, type StoreView } from '../service/kube/object-store.ts';

/** The policy with the defaults for all settings that it does not have. The default of `rollout` is not one of them: a base has `waves`. */
export function effectiveBase(policy: BaseImagePolicy, { rules, labelsOf }: NamespaceContext): BaseImagePolicy {
  const { namespace, spec } = policy;
  if (!isUsableBase(spec)) return policy;
  const { origins, pollIntervalMs: poll, minAgeMs: minAge, windows } = spec.base;
  const written: SettingValues = {
    ...(origins.poll === 'policy' && { poll }),
    ...defined({ minAge }),
    ...(origins.windows === 'policy' && { windows }),
  };
  const settings = baseSettings(written, matchingDefaults(rules, namespace, labelsOf(namespace)), rules.cluster);
  return { ...policy, spec: { ...spec, base: { ...spec.base, ...settings } } };
}

/** The effective policies, which follow the written ones. `refresh` applies changed labels of a namespace to its policies. */
export function followWritten(written: StoreView<BaseImagePolicy>, context: NamespaceContext) {
  const { view: policies, set, unset } = createDerivedStore<BaseImagePolicy>();
  written.subscribe(({ type, object }) => (type === 'deleted' ? unset(object) : set(effectiveBase(object, context))));
  return {
    policies,
    refresh(namespace: string): void {
      for (const object of written.values()) {
        const policy = effectiveBase(object, context);
        const { spec } = policies.get(object.namespace, object.name) ?? {};
        if (object.namespace === namespace && !isDeepStrictEqual(policy.spec, spec)) set(policy);
      }
    },
  };
}
