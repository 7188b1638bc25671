/** The view of the cluster without the workloads of namespaces that the configuration does not select. */
import { isNamespaceOpen, type ConsentRules } from '../../core/plan/consent.ts';
import { notSelected } from '../../core/model/policy-defaults.ts';
import type { ClusterView } from './ports.ts';

type WorkloadsOfView = Pick<ClusterView, 'findWorkload' | 'listWorkloads' | 'targetState'>;

/** A view of the workloads without those of namespaces that are not selected. Only a policy that may see the workloads of a namespace learns that it is not selected. */
export function onlySelected(view: WorkloadsOfView, isSelected: (namespace: string) => boolean, consents: ConsentRules): WorkloadsOfView {
  return {
    findWorkload: (ref) => (isSelected(ref.namespace) ? view.findWorkload(ref) : undefined),
    listWorkloads: (kind, namespace, ...asked) => (isSelected(namespace) ? view.listWorkloads(kind, namespace, ...asked) : []),
    targetState(target, policy) {
      const { namespace } = target;
      if (isSelected(namespace) || !isNamespaceOpen(namespace, policy, consents)) return view.targetState(target, policy);
      return { problem: { reason: 'NamespaceNotSelected', message: notSelected(namespace) } };
    },
  };
}
