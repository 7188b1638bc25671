/** What counts for a policy besides its own text: the defaults of its namespace and of the cluster, and whether its namespace is selected at all. */
import { isUsable, type ImagePolicy } from '../../core/model/image-policy.ts';
import {
  isSelected,
  matchingDefaults,
  needsLabels,
  notSelected,
  withDefaults,
  type Labels,
  type NamespaceRules,
} from '../../core/model/policy-defaults.ts';
import type { Considered } from '../../service/explain/plan-now.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';

/** Reads the labels of the namespace where they decide anything, with the caller's own rights. */
export async function applyNamespaceRules(client: KubeClient, policy: ImagePolicy, rules: NamespaceRules): Promise<Considered> {
  const { namespace, spec } = policy;
  const { labels, doubt } = needsLabels(rules) ? await readLabels(client, namespace) : {};
  if (doubt === undefined && !isSelected(rules, labels)) return { policy, why: `NamespaceNotSelected: ${notSelected(namespace)}` };
  const used = isUsable(spec) ? withDefaults(spec, matchingDefaults(rules, namespace, labels), rules.cluster) : spec;
  return { policy: { ...policy, spec: used }, ...(doubt !== undefined && { doubt }) };
}

async function readLabels(client: KubeClient, namespace: string): Promise<{ readonly labels?: Labels; readonly doubt?: string }> {
  const { readNamespace } = await import('../../service/kube/namespaces.ts');
  try {
    return { labels: (await readNamespace(client, namespace))?.labels };
  } catch (error) {
    if (!isKubeError(error, 403)) throw error;
    return {
      doubt: `you may not read Namespace ${namespace}, so its labels are not known here: whether it is selected, and which defaults it has`,
    };
  }
}
