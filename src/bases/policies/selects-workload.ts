/** Which workloads a BaseImagePolicy selects. Pure. */
import type { BaseImagePolicy, BasePolicySpec } from '../../core/model/base-policy.ts';
import { matchesSelector, type LabelSelector } from '../../core/model/label-selector.ts';
import type { Workload } from '../../core/model/workload.ts';

/** Whether the labels of a Namespace match a selector. */
export type NamespaceMatches = (namespace: string, selector: LabelSelector) => boolean;

/** Whether the spec of the policy selects the workload, by its kind, its labels and those of its Namespace. Consent is not checked. */
export function selectsWorkload(
  { namespace, spec }: Pick<BaseImagePolicy, 'namespace'> & { readonly spec: BasePolicySpec },
  workload: Pick<Workload, 'kind' | 'namespace' | 'labels'>,
  namespaceMatches: NamespaceMatches,
): boolean {
  return spec.workloads.some(({ kinds, namespaceSelector, selector }) => {
    if (!kinds.includes(workload.kind)) return false;
    if (selector !== undefined && !matchesSelector(selector, workload.labels)) return false;
    return namespaceSelector === undefined ? workload.namespace === namespace : namespaceMatches(workload.namespace, namespaceSelector);
  });
}
