import { needsConsent, unseenProblem } from '../consent.ts';
import { workloadKey } from '../../model/workload.ts';
import type { Guard } from './guard.ts';

/** Refuses targets in other namespaces whose owners have not consented. Their annotations are read just before the change. */
export const consent: Guard = {
  id: 'consent',
  bindsRollback: true,
  check({ target }, { policy, crossNamespace, consents }) {
    if (consents === undefined || !needsConsent(target, policy, crossNamespace)) return undefined;
    if (consents.get(workloadKey(target))?.granted === true) return undefined;
    const problem = unseenProblem(target, policy, crossNamespace);
    return problem && { kind: 'refused', ...problem };
  },
};
