import { sourceOf } from '../../core/plan/plan-fields.ts';
import { type ConsentGrant, needsConsent, withGrants } from '../../core/plan/consent.ts';
import { defined } from '../../core/model/defined.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { ImagePolicy, PolicySpec, PolicyTarget } from '../../core/model/image-policy.ts';
import type { TargetProblem } from '../../core/plan/plan-update.ts';
import type { CustomTarget } from '../../core/model/field-rules.ts';
import { kindKey, workloadKey, type Workload } from '../../core/model/workload.ts';
import type { ReadContext } from '../../service/resources/read-spec.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import type { TargetKind } from '../../service/kube/targets.ts';
import type { ClusterView } from '../../service/reconcile/ports.ts';
import type { NamespaceScope } from './namespace-rules.ts';
import { readFollowed } from './followed-policies.ts';
import { policiesFor, readOthers } from './other-policies.ts';

/** The rules of the configuration, and the context for reading policies. */
type Rules = Pick<ClusterView, 'crossNamespace' | 'repeatsPerHour'> &
  ReadContext & { readonly consents: readonly ConsentGrant[]; readonly scope: NamespaceScope };

/** The view of the cluster for a plan. `doubt` says what could not be read. */
export interface Gathered extends ClusterView {
  readonly doubt?: string;
}

/** The targets of a policy, and the consents of their owners. */
export interface ReadTargets {
  /** The workloads by `workloadKey`. */
  readonly workloads: ReadonlyMap<string, Workload>;
  /** The consent annotations of Namespaces; null where a Namespace has none. */
  readonly namespaces: ReadonlyMap<string, string | null>;
  /** Why the objects of a target cannot be read. */
  readonly problems: ReadonlyMap<PolicyTarget, TargetProblem>;
}

/**
 * Reads the targets of a policy and the consents of their owners with the caller's own rights, and returns what the service would plan with. What the caller
 * may not read in another namespace counts as absent. Other policies of the targets are read only if they affect the plan.
 */
export async function gatherForExplain(
  client: KubeClient,
  policy: ImagePolicy,
  spec: PolicySpec,
  { consents, customTargets, olderVersions, scope, ...rules }: Rules,
): Promise<Gathered> {
  const { workloads, namespaces, problems } = await readTargets(client, policy, spec, { consents, customTargets, ...rules });
  const { crossNamespace, aliases } = rules;
  const { findPolicy, ...followed } = await readFollowed(client, policy, spec, { consents, customTargets, olderVersions, ...rules });
  const consent = {
    crossNamespace,
    namespaceConsent: (namespace: string) => namespaces.get(namespace) ?? followed.namespaces.get(namespace),
  };
  const others = await readOthers(policy, spec, [...workloads.values()], { client, aliases, customTargets, olderVersions });
  const targeted = spec.targets.map(({ namespace }) => namespace).filter((namespace) => namespace !== policy.namespace);
  await scope.read([...targeted, ...others.policies.map(({ namespace }) => namespace)]);
  const considered = others.policies.filter(({ namespace }) => scope.isConsidered(namespace));
  const doubts = [scope.doubt(targeted), others.doubt].filter((one) => one !== undefined);
  return {
    ...rules,
    ...consent,
    policiesOf: policiesFor(considered, consent),
    ...defined({ findPolicy }),
    ...(doubts.length > 0 && { doubt: doubts.join('; ') }),
    ...scope.limit(viewOf(workloads, problems), consent),
    now: Date.now,
  };
}

/** The view of the stages on workloads that were read, by their keys, and on problems of targets. */
export function viewOf(
  workloads: ReadonlyMap<string, Workload>,
  problems: ReadonlyMap<PolicyTarget, TargetProblem>,
): Pick<ClusterView, 'findWorkload' | 'listWorkloads' | 'targetState'> {
  return {
    findWorkload: (ref) => workloads.get(workloadKey(ref)),
    listWorkloads: (kind, namespace) =>
      [...workloads.values()].filter((workload) => workload.namespace === namespace && kindKey(workload) === kindKey(kind)),
    targetState(target) {
      const problem = problems.get(target);
      return problem === undefined ? { since: 0 } : { problem };
    },
  };
}

/** Reads the targets of a policy and the consents of their owners, without the view of the service. */
export async function readTargets(
  client: KubeClient,
  policy: Pick<ImagePolicy, 'namespace'>,
  spec: Pick<PolicySpec, 'targets'>,
  { consents, customTargets, crossNamespace }: Pick<Rules, 'consents' | 'customTargets' | 'crossNamespace'>,
): Promise<ReadTargets> {
  const { readNamespaceConsent } = await import('../../service/kube/namespaces.ts');
  const workloads = new Map<string, Workload>();
  const namespaces = new Map<string, string | null>();
  const problems = new Map<PolicyTarget, TargetProblem>();
  /** Reads what a reference selects, and the consent of its Namespace. */
  const read = async (ref: PolicyTarget): Promise<readonly Workload[]> => {
    const { namespace } = ref;
    try {
      const found = (await readTarget(client, ref, customTargets)).workloads;
      for (const workload of found) workloads.set(workloadKey(workload), workload);
      if (needsConsent({ ...ref, name: '' }, policy, crossNamespace) && !namespaces.has(namespace)) {
        const answer = (await readNamespaceConsent(client, namespace))?.allowPoliciesFrom ?? null;
        namespaces.set(namespace, withGrants(answer, namespace, consents));
      }
      return found;
    } catch (error) {
      const isNotTheirs = isKubeError(error, 403) || (error instanceof PermanentError && error.reason === 'NoConsent');
      if (isNotTheirs && namespace !== policy.namespace) return [];
      throw error;
    }
  };
  for (const target of spec.targets) {
    const { namespace } = target;
    if (namespace !== policy.namespace && crossNamespace === 'deny') continue;
    try {
      const found = await read(target);
      const sources = found.flatMap((workload) => sourceOf(target.fields, workload) ?? []);
      for (const source of new Map(sources.map((one) => [workloadKey(one), one])).values()) await read(source);
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error;
      problems.set(target, { reason: error.reason, message: error.message });
    }
  }
  return { workloads, namespaces, problems };
}

/** The workloads that a target selects, and where objects of their kind are. Throws PermanentError for unknown kinds. */
export async function readTarget(
  client: KubeClient,
  target: PolicyTarget,
  customTargets: readonly CustomTarget[],
): Promise<{ readonly kind: TargetKind; readonly workloads: readonly Workload[] }> {
  const [{ createDiscovery }, { listSelected, readWorkload }] = await Promise.all([
    import('../../service/kube/discovery.ts'),
    import('../../service/kube/read-workload.ts'),
  ]);
  const full = await createDiscovery(client, customTargets).find(target);
  if (target.selector !== undefined) return { kind: full, workloads: await listSelected(client, full, target) };
  const workload = await readWorkload(client, target, { target: full });
  return { kind: full, workloads: workload === undefined ? [] : [workload] };
}
