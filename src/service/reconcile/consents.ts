/** Reads from the API server what the owners of targets in other namespaces allow. */
import { sourcesOf } from '../../core/plan/chart-sources.ts';
import { evaluateConsent, needsConsent, type Asker, type Consent } from '../../core/plan/consent.ts';
import { wantsChange, type UpdatePlan } from '../../core/plan/plan-update.ts';
import { confirmedForMs } from '../../core/model/confirmation.ts';
import { PermanentError } from '../../core/model/errors.ts';
import { workloadKey, type ContainerChange, type Workload, type WorkloadRef } from '../../core/model/workload.ts';
import { createTtlCache } from '../../core/async/bounded-map.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import type { Reconcile } from './attempt.ts';
import type { Workloads } from './ports.ts';

const maxParallel = 16;

/**
 * Reads the consents of the Namespaces of a policy's targets, of the sources of their charts, and of the policies that it follows: they decide what the policy
 * may see.
 */
export async function readConsents({ policy, spec, cluster, signal }: Reconcile, { refreshConsents }: Workloads): Promise<void> {
  const targets: readonly WorkloadRef[] = spec.targets.map((target) => ({ ...target, name: '' }));
  const followed = (spec.after?.policies ?? []).map((name) => ({ kind: 'ImagePolicy', ...name }));
  const objects = [...targets, ...sourcesOf(spec.targets, cluster), ...followed];
  const asked = objects.filter((object) => needsConsent(object, policy, cluster.crossNamespace));
  if (asked.length > 0) await refreshConsents([...new Set(asked.map(({ namespace }) => namespace))], signal);
}

/** The policy that asks for consent, and whether it needs consent. */
type Asking = Pick<Reconcile, 'signal'> & { readonly policy: Asker; readonly cluster: Pick<Reconcile['cluster'], 'crossNamespace'> };

/** The consents by workload, and the workloads that were read for them. */
interface Gathered {
  readonly consents: ReadonlyMap<string, Consent>;
  readonly read: ReadonlyMap<string, Workload | undefined>;
  readonly confirm: ConfirmConsent;
}

/**
 * Confirms the consent to change a workload as it was read, before each try of its patch. Returns when the consent was given, by the monotonic clock;
 * undefined if it is not given any more. The first try uses the gathered consent, for a short time; each later try reads it again.
 */
export type ConfirmConsent = (workload: Workload) => Promise<number | undefined>;

/** How long one read of a Namespace's consent is shared. A Namespace may have hundreds of targets. */
const sharedForMs = 500;
const maxNamespaces = 1_000;

/**
 * Gathers the consents of the owners of targets in other namespaces. They are read anew for each patch, because a consent may have been withdrawn. They are
 * read only for workloads that the plan changes, whose owners had consented when the plan was made.
 */
export async function gatherConsents(asking: Asking, plan: UpdatePlan, workloads: Workloads): Promise<Gathered> {
  const { policy, cluster } = asking;
  const gatheredAt = performance.now();
  const asked = plan.targets.filter((planned) => wantsChange(planned) && needsConsent(planned.target, policy, cluster.crossNamespace));
  // Each Namespace's annotation is read once, because hundreds of targets may be in one namespace.
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
    confirm: confirmConsent(asking, { gatheredAt, readConsent: workloads.readConsent }),
  };
}

function confirmConsent(
  { policy, cluster: { crossNamespace }, signal }: Asking,
  { gatheredAt, readConsent }: { readonly gatheredAt: number } & Pick<Workloads, 'readConsent'>,
): ConfirmConsent {
  const tried = new Set<string>();
  const answers = createTtlCache<{ readonly at: number; readonly onNamespace: string | null }>({
    ttlMs: sharedForMs,
    limit: maxNamespaces,
    elapsed: () => performance.now(),
  });
  return async (workload) => {
    const { namespace, allowPoliciesFrom: onTarget } = workload;
    // A consent on the workload needs no read here, because the patch tests the workload's own annotation.
    if (onTarget !== undefined || !needsConsent(workload, policy, crossNamespace)) return performance.now();
    const isFirst = !tried.has(workloadKey(workload));
    tried.add(workloadKey(workload));
    if (isFirst && performance.now() - gatheredAt < confirmedForMs) return gatheredAt;
    try {
      const { at, onNamespace } = await answers.get(namespace, async () => {
        const at = performance.now();
        return { at, onNamespace: await readConsent(namespace, signal) };
      });
      return evaluateConsent(policy, workload, { onTarget, onNamespace }, crossNamespace).granted ? at : undefined;
    } catch (error) {
      if (error instanceof PermanentError) return undefined;
      throw error;
    }
  };
}

/**
 * Confirms that the object from which the URL of a chart was read is as it was, and that its owners consent. Returns when that was true, by the monotonic clock;
 * undefined if it is not true any more.
 */
export async function confirmSource(
  source: NonNullable<ContainerChange['source']>,
  asking: Asking,
  workloads: Workloads,
): Promise<number | undefined> {
  const { policy, cluster, signal } = asking;
  const readAt = performance.now();
  const isForeign = needsConsent(source, policy, cluster.crossNamespace);
  const { workload, consent } = isForeign
    ? await ask(source, asking, workloads)
    : { workload: await workloads.read(source, signal), consent: { granted: true } };
  const isSame = workload?.uid === source.uid && workload.generation === source.generation && workload.isDeleted !== true;
  return isSame && consent.granted ? readAt : undefined;
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
