import { evaluateConsent, needsConsent, type Consent, type ConsentRules } from '../plan/consent.ts';
import { PermanentError } from '../model/errors.ts';
import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import { wantsChange, type UpdatePlan } from '../plan/plan-update.ts';
import { workloadKey, type Workload, type WorkloadRef } from '../model/workload.ts';
import { inParallel } from '../async/in-parallel.ts';

const maxParallel = 16;

export interface ConsentPorts extends ConsentRules {
  /** The workload as read from the API server. */
  readonly readWorkload: (ref: WorkloadRef, signal: AbortSignal) => Promise<Workload | undefined>;
  /** A Namespace's consent annotation from the API server, null where it has none; throws PermanentError(NoConsent) where it may not be read. */
  readonly readNamespaceConsent: (namespace: string, signal: AbortSignal) => Promise<string | null>;
  /** Brings `namespaceConsent` up to date for these Namespaces; does not fail when one may not be read. */
  readonly readNamespaceConsents: (namespaces: readonly string[], signal: AbortSignal) => Promise<void>;
}

/** Reads the consents of the Namespaces of a policy's targets, which decide what the policy may see. */
export async function readConsents(policy: ImagePolicy, spec: PolicySpec, ports: ConsentPorts, signal: AbortSignal): Promise<void> {
  const { crossNamespace, readNamespaceConsents } = ports;
  const asked = spec.targets.filter((target) => needsConsent({ ...target, name: '' }, policy, crossNamespace));
  if (asked.length > 0) await readNamespaceConsents([...new Set(asked.map(({ namespace }) => namespace))], signal);
}

interface Gathering {
  /** The workloads that this reconcile has read; those read here are added. */
  readonly fresh: Map<string, Workload | undefined>;
  readonly ports: ConsentPorts;
  readonly signal: AbortSignal;
}

/**
 * The consents of the owners of targets in other namespaces. They are read anew for each patch, because a consent may have been withdrawn, and only for
 * workloads that the plan changes, whose owners had consented when it was made.
 */
export async function gatherConsents(policy: ImagePolicy, plan: UpdatePlan, gathering: Gathering): Promise<ReadonlyMap<string, Consent>> {
  const { crossNamespace } = gathering.ports;
  const asked = plan.targets.filter((planned) => wantsChange(planned) && needsConsent(planned.target, policy, crossNamespace));
  // Hundreds of targets may be in one namespace, whose annotation is read once.
  const namespaces = new Map<string, Promise<string | null>>();
  const readNamespaceConsent: ConsentPorts['readNamespaceConsent'] = (namespace, signal) => {
    const answer = namespaces.get(namespace) ?? gathering.ports.readNamespaceConsent(namespace, signal);
    namespaces.set(namespace, answer);
    return answer;
  };
  const sharing = { ...gathering, ports: { ...gathering.ports, readNamespaceConsent } };
  const answers = await inParallel(asked, maxParallel, ({ target }) => ask(target, policy, sharing));
  return new Map(
    asked.flatMap(({ target }, index): [string, Consent][] => {
      const answer = answers[index];
      if (answer?.status === 'rejected') throw answer.reason;
      return answer === undefined ? [] : [[workloadKey(target), answer.value]];
    }),
  );
}

async function ask(target: WorkloadRef, policy: ImagePolicy, { fresh, ports, signal }: Gathering): Promise<Consent> {
  const workload = await ports.readWorkload(target, signal);
  fresh.set(workloadKey(target), workload);
  const onTarget = workload?.allowPoliciesFrom;
  try {
    const onNamespace = onTarget === undefined ? await ports.readNamespaceConsent(target.namespace, signal) : undefined;
    return evaluateConsent(policy, target, { onTarget, onNamespace }, ports.crossNamespace);
  } catch (error) {
    if (error instanceof PermanentError) return { granted: false };
    throw error;
  }
}
