/**
 * The policies that the service acts on: those of selected namespaces, with the defaults of their namespace and of the cluster. All other code reads policies
 * from here. So none can act on a policy whose namespace is not selected, and none has to find out where a value comes from.
 */
import { isUsable, type ImagePolicy, type PolicySpec } from '../../core/model/image-policy.ts';
import {
  isSelected,
  matchingDefaults,
  withDefaults,
  type Labels,
  type NamespaceRules,
  type SettingValues,
} from '../../core/model/policy-defaults.ts';
import { createDerivedStore, type StoreView } from '../kube/object-store.ts';

/** The rules and labels that decide about the policies of a namespace. */
export interface NamespaceContext {
  readonly rules: NamespaceRules;
  readonly labelsOf: (namespace: string) => Labels;
}

export interface EffectivePolicies {
  readonly policies: StoreView<ImagePolicy>;
  /** Whether policies and targets of a namespace are considered. */
  readonly isSelected: (namespace: string) => boolean;
  /** The policy as it applies now, given the written policy; undefined if its namespace is not selected. */
  readonly effective: (written: ImagePolicy) => ImagePolicy | undefined;
  /** Applies changed labels of a namespace to its policies; returns those that were not selected before. */
  readonly refresh: (namespace: string) => readonly ImagePolicy[];
  /** Evaluates again what holds the children of a BaseImagePolicy. */
  readonly refreshChildren: (parent: { readonly namespace: string; readonly name: string }) => void;
}

/** Why a policy must not do anything now; undefined if nothing holds it. */
export type WhyHeld = (policy: ImagePolicy) => string | undefined;

/** Creates the effective policies, which follow the written ones. A policy that is held counts as suspended. */
export function createEffectivePolicies(
  written: StoreView<ImagePolicy>,
  { rules, labelsOf }: NamespaceContext,
  whyHeld: WhyHeld = () => undefined,
): EffectivePolicies {
  const { view: policies, set, unset } = createDerivedStore<ImagePolicy>();
  const byNamespace = new Map<string, Map<string, ImagePolicy>>();
  const withDefaultsOnce = memoize(rules);
  const holdOnce = memoizeHeld();
  const isSelectedNow = (namespace: string) => isSelected(rules, labelsOf(namespace));
  const effective = (policy: ImagePolicy): ImagePolicy | undefined => {
    const { namespace, spec } = policy;
    if (!isSelectedNow(namespace)) return undefined;
    if (!isUsable(spec)) return policy;
    const own = withDefaultsOnce(spec, matchingDefaults(rules, namespace, labelsOf(namespace)));
    const held = policy.parent === undefined || own.suspended ? undefined : whyHeld(policy);
    const used = held === undefined ? own : holdOnce(own, held);
    return used === spec ? policy : { ...policy, spec: used };
  };
  /** Applies a written policy; returns whether it was not selected before. */
  const apply = (policy: ImagePolicy): boolean => {
    const before = policies.get(policy.namespace, policy.name);
    const after = effective(policy);
    if (after === undefined) unset(policy);
    else if (before?.resourceVersion !== after.resourceVersion || before.uid !== after.uid || before.spec !== after.spec) set(after);
    return before === undefined && after !== undefined;
  };
  written.subscribe(({ type, object }) => {
    const { namespace } = object;
    const known = byNamespace.get(namespace) ?? new Map<string, ImagePolicy>();
    if (type === 'deleted') {
      known.delete(object.name);
      if (known.size === 0) byNamespace.delete(namespace);
      unset(object);
    } else {
      byNamespace.set(namespace, known.set(object.name, object));
      apply(object);
    }
  });
  return {
    policies,
    isSelected: isSelectedNow,
    effective,
    refresh: (namespace) =>
      [...(byNamespace.get(namespace)?.values() ?? [])].filter(apply).flatMap(({ name }) => policies.get(namespace, name) ?? []),
    refreshChildren({ namespace, name }) {
      for (const policy of byNamespace.get(namespace)?.values() ?? []) if (policy.parent?.name === name) apply(policy);
    },
  };
}

/** Creates a function that holds a spec, and returns the same object for the same spec and reason. */
function memoizeHeld(): (spec: PolicySpec, heldBecause: string) => PolicySpec {
  const known = new WeakMap<PolicySpec, PolicySpec>();
  return (spec, heldBecause) => {
    const before = known.get(spec);
    if (before?.heldBecause === heldBecause) return before;
    const held = { ...spec, suspended: true, heldBecause };
    known.set(spec, held);
    return held;
  };
}

/** Returns the same object for the same spec and defaults, because derived data are cached by the spec object. */
function memoize({ cluster }: NamespaceRules): (spec: PolicySpec, ofNamespace: readonly SettingValues[]) => PolicySpec {
  const known = new WeakMap<PolicySpec, { readonly ofNamespace: readonly SettingValues[]; readonly spec: PolicySpec }>();
  return (spec, ofNamespace) => {
    const before = known.get(spec);
    const isSame =
      before?.ofNamespace.length === ofNamespace.length && before.ofNamespace.every((values, index) => values === ofNamespace[index]);
    if (before !== undefined && isSame) return before.spec;
    const used = withDefaults(spec, ofNamespace, cluster);
    // Usually there are no defaults, and nothing has to be remembered.
    if (used !== spec) known.set(spec, { ofNamespace, spec: used });
    return used;
  };
}
