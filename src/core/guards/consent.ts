import { consentAnnotation } from '../consent.ts';
import { formatWorkload, workloadKey, type WorkloadRef } from '../workload.ts';
import type { Guard, GuardContext } from './guard.ts';

type Context = Pick<GuardContext, 'policy' | 'crossNamespace'>;

/** Targets whose owners have to consent, by the configuration. */
export function needsConsent(target: WorkloadRef, { policy, crossNamespace }: Context): boolean {
  return crossNamespace === 'consent' && target.namespace !== policy.namespace;
}

/** Whether the policy updated this namespace before there was such a rule: it goes on, with a warning. */
export function isTolerated(target: WorkloadRef, policy: GuardContext['policy']): boolean {
  return target.namespace === policy.formerNamespace;
}

/** Owners of targets in other namespaces have to consent. */
export const consent: Guard = {
  id: 'consent',
  bindsRollback: true,
  judge({ target }, context) {
    const { policy, consents } = context;
    if (consents === undefined || !needsConsent(target, context) || isTolerated(target, policy)) return undefined;
    const found = consents.get(workloadKey(target)) ?? { granted: false, why: 'nobody asked its owners' };
    if (found.granted) return undefined;
    const hint = `let its owners annotate it with ${consentAnnotation}: "${policy.namespace}"`;
    return {
      kind: 'refused',
      reason: 'NoConsent',
      message: `${formatWorkload(target)} is in another namespace, and ${found.why}: ${hint}`,
    };
  },
};
