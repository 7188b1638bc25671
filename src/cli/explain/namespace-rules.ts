/** The rules that apply to a policy besides its spec: the defaults of its namespace and of the cluster, and which namespaces the service considers. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { defined } from '../../core/model/defined.ts';
import { isUsable, type ImagePolicy } from '../../core/model/image-policy.ts';
import {
  isSelected,
  matchingDefaults,
  needsLabels,
  notSelected,
  notWatched,
  targetNotWatched,
  withDefaults,
  type Labels,
  type SettingValues,
} from '../../core/model/policy-defaults.ts';
import type { ConsentRules } from '../../core/plan/consent.ts';
import type { Config } from '../../service/config/settings.ts';
import { namespaceRulesOf } from '../../service/config/policy-defaults.ts';
import type { Considered } from '../../service/explain/plan-now.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import { onlySelected } from '../../service/reconcile/selected-view.ts';
import type { ClusterView } from '../../service/reconcile/ports.ts';

type WorkloadsOfView = Pick<ClusterView, 'findWorkload' | 'listWorkloads' | 'targetState'>;

/** The namespaces that the service considers, by its configuration and the labels that were read. */
export interface NamespaceScope {
  /** Reads the labels of these Namespaces with the caller's own rights, if the configuration depends on them. */
  readonly read: (namespaces: Iterable<string>) => Promise<void>;
  /** Whether the service considers a namespace. One whose labels the caller may not read counts as considered. */
  readonly isConsidered: (namespace: string) => boolean;
  /** Reads the labels of the policy's namespace, and applies the rules. */
  readonly apply: (policy: ImagePolicy) => Promise<Considered>;
  /** The defaults of a namespace whose labels were read, and those of the cluster. */
  readonly defaultsOf: (namespace: string) => { readonly ofNamespace: readonly SettingValues[]; readonly ofCluster: SettingValues };
  /** The view without what the service does not consider, with its own words for such targets. */
  readonly limit: (view: WorkloadsOfView, consents: ConsentRules) => WorkloadsOfView;
  /** Why it is not known whether these namespaces are considered; undefined if it is. */
  readonly doubt: (namespaces: readonly string[]) => string | undefined;
}

const maxParallel = 8;
const maxNamed = 3;

/** Creates the scope. Nothing is read yet. */
export function createNamespaceScope(client: KubeClient, config: Pick<Config, 'policyDefaults' | 'poll' | 'watch'>): NamespaceScope {
  const rules = namespaceRulesOf(config);
  const watched = new Set(config.watch.namespaces);
  const labels = new Map<string, Labels>();
  const unreadable = new Set<string>();
  const isWatched = (namespace: string) => watched.size === 0 || watched.has(namespace);
  const hasLabels = (namespace: string) => unreadable.has(namespace) || isSelected(rules, labels.get(namespace));
  const read = async (namespaces: Iterable<string>) => {
    if (!needsLabels(rules)) return;
    const results = await inParallel([...new Set(namespaces)], maxParallel, async (namespace) => {
      const found = await readLabels(client, namespace);
      if (found === 'forbidden') unreadable.add(namespace);
      else labels.set(namespace, found);
    });
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  };
  const doubt = (namespaces: readonly string[]) => {
    const unknown = [...new Set(namespaces)].filter((namespace) => unreadable.has(namespace));
    if (unknown.length === 0) return undefined;
    const names = unknown.slice(0, maxNamed).join(', ') + (unknown.length > maxNamed ? ` and ${unknown.length - maxNamed} more` : '');
    return `you may not read Namespace ${names}, so its labels are not known here: whether it is selected, and which defaults it has`;
  };
  const defaultsOf = (namespace: string) => ({
    ofNamespace: matchingDefaults(rules, namespace, labels.get(namespace)),
    ofCluster: rules.cluster,
  });
  return {
    read,
    doubt,
    defaultsOf,
    isConsidered: (namespace) => isWatched(namespace) && hasLabels(namespace),
    async apply(policy) {
      const { namespace, spec } = policy;
      await read([namespace]);
      if (!isWatched(namespace)) return { policy, why: `NamespaceNotSelected: ${notWatched(namespace)}` };
      if (!hasLabels(namespace)) return { policy, why: `NamespaceNotSelected: ${notSelected(namespace)}` };
      const { ofNamespace, ofCluster } = defaultsOf(namespace);
      const used = isUsable(spec) ? withDefaults(spec, ofNamespace, ofCluster) : spec;
      return { policy: { ...policy, spec: used }, ...defined({ doubt: doubt([namespace]) }) };
    },
    limit(view, consents) {
      const selected = onlySelected(view, hasLabels, consents);
      return {
        findWorkload: (ref) => (isWatched(ref.namespace) ? selected.findWorkload(ref) : undefined),
        listWorkloads: (kind, namespace, ...asked) => (isWatched(namespace) ? selected.listWorkloads(kind, namespace, ...asked) : []),
        targetState: (target, policy) =>
          isWatched(target.namespace)
            ? selected.targetState(target, policy)
            : { problem: { reason: 'TargetNotFound', message: targetNotWatched(target.namespace) } },
      };
    },
  };
}

async function readLabels(client: KubeClient, namespace: string): Promise<Labels | 'forbidden'> {
  const { readNamespace } = await import('../../service/kube/namespaces.ts');
  try {
    return (await readNamespace(client, namespace))?.labels;
  } catch (error) {
    if (!isKubeError(error, 403)) throw error;
    return 'forbidden';
  }
}
