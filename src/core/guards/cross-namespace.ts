import { formatWorkload } from '../workload.ts';
import type { Guard } from './guard.ts';

/** The configuration may deny targets in other namespaces, whatever their owners say. */
export const crossNamespace: Guard = {
  id: 'cross-namespace',
  bindsRollback: true,
  judge({ target }, { policy, crossNamespace: rule }) {
    if (target.namespace === policy.namespace || rule !== 'deny') return undefined;
    const message = `${formatWorkload(target)} is in another namespace than the policy, and the configuration says crossNamespace: deny`;
    return { kind: 'refused', reason: 'CrossNamespaceDenied', message };
  },
};
