import { findGitOpsTool, helm } from '../../core/plan/guards/git-ops.ts';
import { fieldsOf, textOrEmpty } from '../../core/model/untyped.ts';

/** Namespaces whose workloads are updated together with the cluster. */
export const systemNamespaces: ReadonlySet<string> = new Set(['kube-system', 'kube-public', 'kube-node-lease']);

interface Resource {
  readonly namespace: string;
  /** The manager of the field with the version. */
  readonly owner: string | undefined;
  readonly isEverywhere: boolean;
}

/** Why no policy should write the version in a custom resource: another tool would set it back. */
export function whyNotResource(raw: unknown, { namespace, owner, isEverywhere }: Resource): string | undefined {
  if (isEverywhere && systemNamespaces.has(namespace)) return updatedWithCluster(namespace);
  const controller = controllerOf(raw);
  if (controller !== undefined)
    return `${controller} controls the resource and would set its version back: a policy for that resource is what is needed`;
  const tool = toolOf(raw, owner);
  return tool && `${tool} manages the resource and would set its version back: change the version where ${tool} reads it`;
}

export function updatedWithCluster(namespace: string): string {
  return `${namespace} is updated with the cluster: name it with --namespace to include it`;
}

/**
 * The tool that applies a resource again and again. The controllers of these kinds write into their metadata and are GitOps tools themselves, so only the manager
 * of the version counts. The API of Argo CD is not one: people create Applications with it.
 */
function toolOf(raw: unknown, owner: string | undefined): string | undefined {
  const { labels, annotations } = fieldsOf(fieldsOf(raw)['metadata']);
  // The controller of k3s for its folder of manifests leaves the same marks as Fleet.
  if (textOrEmpty(fieldsOf(annotations)['objectset.rio.cattle.io/owner-gvk']).startsWith('k3s.cattle.io/'))
    return 'the folder of manifests of k3s';
  const managers = owner === undefined || owner === 'argocd-server' ? [] : [owner];
  const tool = findGitOpsTool(managers, [...Object.keys(fieldsOf(labels)), ...Object.keys(fieldsOf(annotations))]);
  return tool === helm ? undefined : tool;
}

/** The resource whose operator writes an object: `Prometheus main`. */
export function controllerOf(raw: unknown): string | undefined {
  const { ownerReferences } = fieldsOf(fieldsOf(raw)['metadata']);
  const owners: readonly unknown[] = Array.isArray(ownerReferences) ? ownerReferences : [];
  const controller = owners.map(fieldsOf).find((owner) => owner['controller'] === true);
  return controller && `${textOrEmpty(controller['kind'])} ${textOrEmpty(controller['name'])}`;
}
