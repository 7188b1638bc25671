import { judgeConsent, type Consent } from '../../core/consent.ts';
import { PermanentError } from '../../core/errors.ts';
import { needsConsent } from '../../core/guards/consent.ts';
import type { GuardContext } from '../../core/guards/guard.ts';
import type { ImagePolicy, PolicySpec, PolicyTarget } from '../../core/image-policy.ts';
import type { PlanInput, TargetProblem } from '../../core/plan-update.ts';
import { wantedKind } from '../../core/wanted-kinds.ts';
import { isCustomVersion, kindKey, workloadKey, type Workload } from '../../core/workload.ts';
import type { KubeClient } from '../../kube/client.ts';

/** What of the cluster an explanation needs. */
export interface Gathered extends Pick<PlanInput, 'findWorkload' | 'listWorkloads' | 'kindProblem'> {
  readonly consents: ReadonlyMap<string, Consent>;
}

/** Reads the targets of a policy, and what their owners say. */
export async function gatherForExplain(
  client: KubeClient,
  policy: ImagePolicy,
  spec: PolicySpec,
  crossNamespace: GuardContext['crossNamespace'],
): Promise<Gathered> {
  const { readNamespaceConsent } = await import('../../kube/read-namespace-consent.ts');
  const workloads = new Map<string, Workload>();
  const consents = new Map<string, Consent>();
  const problems = new Map<PolicyTarget, TargetProblem>();
  for (const target of spec.targets) {
    try {
      for (const workload of await readTarget(client, target)) workloads.set(workloadKey(workload), workload);
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error;
      problems.set(target, { reason: error.reason, message: error.message });
    }
  }
  for (const [key, workload] of workloads) {
    if (!needsConsent(workload, { policy, crossNamespace })) continue;
    const { allowPoliciesFrom: onTarget, namespace } = workload;
    const onNamespace = onTarget === undefined ? await readNamespaceConsent(client, namespace) : undefined;
    consents.set(key, judgeConsent(policy.namespace, { onTarget, onNamespace }));
  }
  return {
    consents,
    findWorkload: (ref) => workloads.get(workloadKey(ref)),
    listWorkloads: (kind, namespace) =>
      [...workloads.values()].filter((workload) => workload.namespace === namespace && kindKey(workload) === kindKey(kind)),
    kindProblem: (target) => problems.get(target),
  };
}

/** Throws PermanentError for kinds that there are not. */
async function readTarget(client: KubeClient, target: PolicyTarget): Promise<Workload[]> {
  const [{ discoverKind }, { findTarget }, { listSelected }, { readWorkload }] = await Promise.all([
    import('../../kube/discover-kind.ts'),
    import('../../kube/find-target.ts'),
    import('../../kube/list-selected.ts'),
    import('../../kube/read-workload.ts'),
  ]);
  const { apiVersion, kind, fieldPaths } = wantedKind(target);
  const known = isCustomVersion(apiVersion) ? await discoverKind(client, { apiVersion, kind }) : findTarget(target);
  const full = { ...known, ...(fieldPaths !== undefined && { fieldPaths }) };
  if (target.selector !== undefined) return listSelected(client, full, target);
  const workload = await readWorkload(client, target, undefined, full);
  return workload === undefined ? [] : [workload];
}
