import { judgeConsent, type Consent } from '../core/consent.ts';
import { PermanentError } from '../core/errors.ts';
import { isTolerated, needsConsent } from '../core/guards/consent.ts';
import type { GuardContext } from '../core/guards/guard.ts';
import type { ImagePolicy } from '../core/image-policy.ts';
import { wantsChange, type TargetPlan, type UpdatePlan } from '../core/plan-update.ts';
import { workloadKey, type Workload, type WorkloadRef } from '../core/workload.ts';
import { inParallel } from './in-parallel.ts';

const maxParallel = 16;

export interface ConsentPorts {
  /** The workload as the API server knows it. */
  readonly readWorkload: (ref: WorkloadRef, signal: AbortSignal) => Promise<Workload | undefined>;
  /** The annotation of consent of a Namespace, as the API server knows it; throws PermanentError(NoConsent) where that may not be read. */
  readonly readNamespaceConsent: (namespace: string, signal: AbortSignal) => Promise<string | undefined>;
  readonly crossNamespace: GuardContext['crossNamespace'];
}

interface Gathering {
  /** What was read of workloads in this look; what is read here is added. */
  readonly fresh: Map<string, Workload | undefined>;
  readonly ports: ConsentPorts;
  readonly signal: AbortSignal;
}

/**
 * What the owners of targets in other namespaces say, read anew for each patch: a consent may have been withdrawn. Targets that stay as they are need
 * none. Policies that go on without consent do not wait for a read of their targets; only whether to warn is asked, of what the caches hold.
 */
export async function gatherConsents(policy: ImagePolicy, plan: UpdatePlan, gathering: Gathering): Promise<ReadonlyMap<string, Consent>> {
  const { crossNamespace } = gathering.ports;
  const asked = plan.targets.filter(
    (planned) => needsConsent(planned.target, { policy, crossNamespace }) && (isTolerated(planned.target, policy) || wantsChange(planned)),
  );
  // Hundreds of targets in one namespace: its word is read once.
  const namespaces = new Map<string, Promise<string | undefined>>();
  const readNamespaceConsent: ConsentPorts['readNamespaceConsent'] = (namespace, signal) => {
    const answer = namespaces.get(namespace) ?? gathering.ports.readNamespaceConsent(namespace, signal);
    namespaces.set(namespace, answer);
    return answer;
  };
  const sharing = { ...gathering, ports: { ...gathering.ports, readNamespaceConsent } };
  const answers = await inParallel(asked, maxParallel, (target) => ask(target, policy, sharing));
  return new Map(
    asked.flatMap(({ target }, index): [string, Consent][] => {
      const answer = answers[index];
      if (answer?.status === 'rejected') throw answer.reason;
      return answer === undefined ? [] : [[workloadKey(target), answer.value]];
    }),
  );
}

async function ask({ target, workload: planned }: TargetPlan, policy: ImagePolicy, { fresh, ports, signal }: Gathering): Promise<Consent> {
  let workload = planned;
  if (!isTolerated(target, policy)) {
    workload = await ports.readWorkload(target, signal);
    fresh.set(workloadKey(target), workload);
  }
  const onTarget = workload?.allowPoliciesFrom;
  try {
    const onNamespace = onTarget === undefined ? await ports.readNamespaceConsent(target.namespace, signal) : undefined;
    return judgeConsent(policy.namespace, { onTarget, onNamespace });
  } catch (error) {
    if (error instanceof PermanentError) return { granted: false, why: error.message };
    throw error;
  }
}
