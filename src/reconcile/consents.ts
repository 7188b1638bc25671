/** What the owners of targets in other namespaces allow, read from the API server. */
import { evaluateConsent, needsConsent, type Asker, type Consent } from '../plan/consent.ts';
import { wantsChange, type UpdatePlan } from '../plan/plan-update.ts';
import { PermanentError } from '../model/errors.ts';
import { workloadKey, type Workload, type WorkloadRef } from '../model/workload.ts';
import { inParallel } from '../async/in-parallel.ts';
import type { Reconcile } from './attempt.ts';
import type { Workloads } from './ports.ts';

const maxParallel = 16;

/** Reads the consents of the Namespaces of a policy's targets, which decide what the policy may see. */
export async function readConsents({ policy, spec, cluster, signal }: Reconcile, { refreshConsents }: Workloads): Promise<void> {
  const asked = spec.targets.filter((target) => needsConsent({ ...target, name: '' }, policy, cluster.crossNamespace));
  if (asked.length > 0) await refreshConsents([...new Set(asked.map(({ namespace }) => namespace))], signal);
}

/** The policy that asks, and whether it has to. */
type Asking = Pick<Reconcile, 'signal'> & { readonly policy: Asker; readonly cluster: Pick<Reconcile['cluster'], 'crossNamespace'> };

/** The consents by workload, and the workloads as they were read for them. */
interface Gathered {
  readonly consents: ReadonlyMap<string, Consent>;
  readonly read: ReadonlyMap<string, Workload | undefined>;
}

/**
 * The consents of the owners of targets in other namespaces. They are read anew for each patch, because a consent may have been withdrawn, and only for
 * workloads that the plan changes, whose owners had consented when it was made.
 */
export async function gatherConsents(asking: Asking, plan: UpdatePlan, workloads: Workloads): Promise<Gathered> {
  const { policy, cluster } = asking;
  const asked = plan.targets.filter((planned) => wantsChange(planned) && needsConsent(planned.target, policy, cluster.crossNamespace));
  // Hundreds of targets may be in one namespace, whose annotation is read once.
  const namespaces = new Map<string, Promise<string | null>>();
  const readConsent: Workloads['readConsent'] = (namespace, signal) => {
    const answer = namespaces.get(namespace) ?? workloads.readConsent(namespace, signal);
    namespaces.set(namespace, answer);
    return answer;
  };
  const answers = await inParallel(asked, maxParallel, ({ target }) => ask(target, asking, { ...workloads, readConsent }));
  const found = answers.map((answer) => {
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  });
  return {
    consents: new Map(found.map(({ key, consent }) => [key, consent])),
    read: new Map(found.map(({ key, workload }) => [key, workload])),
  };
}

async function ask(
  target: WorkloadRef,
  { policy, cluster: { crossNamespace }, signal }: Asking,
  workloads: Workloads,
): Promise<{ readonly key: string; readonly workload: Workload | undefined; readonly consent: Consent }> {
  const key = workloadKey(target);
  const workload = await workloads.read(target, signal);
  const onTarget = workload?.allowPoliciesFrom;
  try {
    const onNamespace = onTarget === undefined ? await workloads.readConsent(target.namespace, signal) : undefined;
    return { key, workload, consent: evaluateConsent(policy, target, { onTarget, onNamespace }, crossNamespace) };
  } catch (error) {
    if (error instanceof PermanentError) return { key, workload, consent: { granted: false } };
    throw error;
  }
}
