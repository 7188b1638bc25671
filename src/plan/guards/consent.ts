import { needsConsent, unseenProblem } from '../consent.ts';
import { workloadKey } from '../../model/workload.ts';
import type { Guard } from './guard.ts';

/** Owners of targets in other namespaces have to consent, by what they said a moment ago. */
export const consent: Guard = {
  id: 'consent',
  bindsRollback: true,
  judge({ target }, { policy, crossNamespace, consents }) {
    if (consents === undefined || !needsConsent(target, policy, crossNamespace)) return undefined;
    if (consents.get(workloadKey(target))?.granted === true) return undefined;
    const problem = unseenProblem(target, policy, crossNamespace);
    return problem && { kind: 'refused', ...problem };
  },
};
