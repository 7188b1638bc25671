/**
 * Which policies want a look because they, or what they point at, changed. A pure judgement on what the caches hold: asked on every
 * change, and once a minute for all, so that nothing hangs on having seen the change itself.
 */
import { isUsable, policyKey, type ImagePolicy, type PolicySpec } from '../core/image-policy.ts';
import type { Reason } from '../core/reasons.ts';
import { workloadKey, type Workload, type WorkloadRef } from '../core/workload.ts';
import type { PolicyJob } from '../queue/jobs.ts';

/** What a change of the target may heal. */
const healedByTarget: ReadonlySet<string> = new Set<Reason>([
  'TargetNotFound',
  'ContainerNotFound',
  'NotComparable',
  'PatchRejected',
  'NoConsent',
]);

/** What a changed Secret, or another choice of Secrets, may heal; some registries hide what they do not let one see, and keys are replaced. */
const healedBySecret: ReadonlySet<string> = new Set<Reason>([
  'RegistryDenied',
  'RepositoryNotFound',
  'VerificationKeyInvalid',
  'SignatureInvalid',
]);

/** The Secrets that a policy hangs on, with their versions as far as they are known, as one text. */
export type SecretVersions = (policy: ImagePolicy, spec: PolicySpec) => string;

/** Whether the policy is Stalled by what a Secret may heal. */
export function mayBeHealedBySecret({ status }: ImagePolicy): boolean {
  return (
    status.conditions?.some(({ type, status, reason }) => type === 'Stalled' && status === 'True' && healedBySecret.has(reason)) ?? false
  );
}

/** Why the policy wants a look now: its job, or undefined. Replicas that judge the same state make the same job. */
export function wakeJob(
  policy: ImagePolicy,
  findWorkload: (ref: WorkloadRef) => Workload | undefined,
  now: Date,
  secretVersions?: SecretVersions,
): PolicyJob | undefined {
  const { namespace, name, uid, generation, status } = policy;
  const job = { schema: 1, policy: { namespace, name, uid }, generation, receivedAt: now.toISOString() } as const;
  if (status.observedGeneration !== generation) return { ...job, source: 'PolicyChange', cause: `generation:${generation}` };
  if (secretVersions !== undefined && mayBeHealedBySecret(policy) && isUsable(policy.spec))
    return { ...job, source: 'SecretChange', cause: `secrets:${generation}:${secretVersions(policy, policy.spec)}` };
  const stalled = status.conditions?.find((condition) => condition.type === 'Stalled');
  if (stalled?.status !== 'True' || !healedByTarget.has(stalled.reason) || !isUsable(policy.spec)) return undefined;
  const versions = policy.spec.targets.map(findWorkload).flatMap((workload) => (workload ? [versionOf(workload, stalled.reason)] : []));
  if (versions.length === 0) return undefined;
  return { ...job, source: 'TargetChange', cause: `targets:${generation}:${versions.join(',')}` };
}

/** Of most kinds, an annotation does not count up the generation (of Deployments it does). */
function versionOf({ uid, generation, allowPoliciesFrom }: Workload, reason: string): string {
  return reason === 'NoConsent' ? `${uid}:${generation}:${allowPoliciesFrom ?? ''}` : `${uid}:${generation}`;
}

type PolicyName = Pick<ImagePolicy, 'namespace' | 'name'>;

/** Policies by the workloads they name, so that a changed workload finds its policies in one look. */
export interface TargetIndex {
  put(policy: ImagePolicy): void;
  remove(policy: PolicyName): void;
  policiesOf(workload: WorkloadRef): readonly PolicyName[];
}

/** An empty index. */
export function createTargetIndex(): TargetIndex {
  const byWorkload = new Map<string, Map<string, PolicyName>>();
  const targetsOf = new Map<string, readonly string[]>();
  const remove = (policy: PolicyName) => {
    const key = policyKey(policy);
    for (const target of targetsOf.get(key) ?? []) {
      const policies = byWorkload.get(target);
      policies?.delete(key);
      if (policies?.size === 0) byWorkload.delete(target);
    }
    targetsOf.delete(key);
  };
  return {
    remove,
    put(policy) {
      remove(policy);
      if (!isUsable(policy.spec)) return;
      const key = policyKey(policy);
      const targets = policy.spec.targets.map(workloadKey);
      targetsOf.set(key, targets);
      const { namespace, name } = policy;
      for (const target of targets)
        byWorkload.set(target, (byWorkload.get(target) ?? new Map<string, PolicyName>()).set(key, { namespace, name }));
    },
    policiesOf: (workload) => [...(byWorkload.get(workloadKey(workload))?.values() ?? [])],
  };
}
