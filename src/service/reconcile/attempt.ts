/** The data that the stages of a reconcile share: the policy and the cluster as they are, what earlier attempts have done, and why an attempt starts again. */
import type { AppliedChange, TargetProblem } from '../../core/plan/plan-update.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import type { FollowedNow } from '../../core/plan/proven.ts';
import { runningImages } from '../../core/plan/running-images.ts';
import { inSlices } from '../../core/async/in-parallel.ts';
import { isUsable, policyKey, type ImagePolicy, type PolicySpec } from '../../core/model/image-policy.ts';
import type { TriggerSource } from '../../core/model/policy-status.ts';
import { resolveTargets } from '../../core/model/resolve-target.ts';
import { workloadKey, type Workload } from '../../core/model/workload.ts';
import type { ClusterView, Policies, SeenCluster } from './ports.ts';
import type { KnownEvidence } from './assess.ts';
import type { Selected, SelectRequest } from './selection.ts';

/** A policy for which an image is selected. */
export interface Reconcile {
  readonly policy: ImagePolicy;
  /** The spec of the policy. Its strategy may remember its answers. */
  readonly spec: PolicySpec;
  readonly request: SelectRequest;
  /** The view of the cluster, limited to what the policy may see. */
  readonly cluster: SeenCluster;
  readonly signal: AbortSignal;
}

/** Which policy is to be reconciled, and why. */
export interface ReconcileRequest extends SelectRequest {
  readonly policy: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** When the push, or whatever else caused the reconcile, was received. */
  readonly sinceMs?: number;
  /** The cause of the reconcile, which is recorded on the workloads. */
  readonly source?: TriggerSource;
  /** The push that caused the reconcile, which is recorded on the workloads. */
  readonly eventId?: string | undefined;
  /** Called before anything is changed, when the image is known to be the right one. */
  readonly onVerified?: () => void;
  /** Called with the changes that a failing reconcile had already made. */
  readonly onPartlyApplied?: (changes: readonly AppliedChange[]) => void;
}

/** One attempt of a reconcile, with the policy as it is at its start. */
export interface Attempt extends Reconcile {
  readonly request: ReconcileRequest;
  readonly progress: Progress;
}

/** The data that survive when a reconcile starts again. */
export interface Progress {
  /** The selection, if an image is selected. The policy's mutex is then held, and the registry is asked again if running images change, or after 20 s. Sources of evidence are not: the mutex is left for them. */
  readonly selected?: Selected;
  /** What the sources of evidence have answered, if the policy's mutex was left for them. */
  readonly evidence?: KnownEvidence | undefined;
  /** The digest whose signatures were verified. */
  readonly verified?: string | undefined;
  /** The versions of the Secrets that the registry was asked with, as one text. */
  readonly secrets?: string;
  readonly applied: readonly AppliedChange[];
  /** The workloads that were read from the API server, by key; undefined for a workload that does not exist any more. */
  readonly fresh: ReadonlyMap<string, Workload | undefined>;
  /** Why the API server rejects a change, by workload. A retry would not help. */
  readonly refused: ReadonlyMap<string, TargetProblem>;
  /** What the followed policies show, as they were read from the API server; absent while nothing was to be changed. */
  readonly followed?: FollowedNow;
}

export const noProgress: Progress = { applied: [], fresh: new Map(), refused: new Map() };

/**
 * Why a reconcile starts again. Prepared: an image is selected, and from now on the mutex is held · Verified: the registry was asked for signatures, and may
 * have been slow · TargetChanged: the targets differ from those that were planned with · Conflict: the API server found that they differ · Overtaken: it found
 * so because another writer was faster · Outdated: the policy or a consent is not as it was planned for, or the answer of the registry is too old ·
 * Unassessed: sources of evidence about vulnerabilities have to be asked, for which the mutex is left · PolicyChanged, SecretChanged: everything that was
 * found is outdated.
 */
export type Again =
  | 'Prepared'
  | 'Unassessed'
  | 'Verified'
  | 'TargetChanged'
  | 'Conflict'
  | 'Overtaken'
  | 'Outdated'
  | 'PolicyChanged'
  | 'SecretChanged';

/** The request to start the reconcile again, with the data that survive. */
export interface StartAgain {
  readonly again: Again;
  readonly progress: Progress;
}

/** What ends an attempt: a result, or a reason to start again. */
export type End = Outcome | StartAgain;

/** The next stage's value, unless an earlier stage ended the attempt. */
export async function next<A extends object, B>(step: A | End, stage: (value: A) => B | Promise<B>): Promise<B | End> {
  return 'again' in step || 'kind' in step ? step : stage(step);
}

/** The attempt after more was done or read. Workloads that were read take precedence over the caches. */
export function withProgress(attempt: Omit<Attempt, 'progress'>, progress: Progress): Attempt {
  const { fresh } = progress;
  const { policy, cluster } = attempt;
  if (fresh.size === 0) return { ...attempt, progress };
  const findWorkload: ClusterView['findWorkload'] = (ref) =>
    fresh.has(workloadKey(ref)) ? fresh.get(workloadKey(ref)) : cluster.findWorkload(ref);
  // What was read may show that a consent was withdrawn.
  return { ...attempt, progress, cluster: asSeenBy(policy, { ...cluster, findWorkload }) };
}

/** Finds the policy of a request or job. A policy that was deleted and created anew under the same name is another one. */
export function findSame(
  { policy: { namespace, name, uid } }: Pick<ReconcileRequest, 'policy'>,
  { find }: Policies,
): ImagePolicy | undefined {
  const policy = find(namespace, name);
  return policy?.uid === uid ? policy : undefined;
}

/** What the targets of policies run, by the key of the policy. It is read in slices, because there may be thousands of policies. */
export async function runningNow(
  policies: readonly ImagePolicy[],
  cluster: ClusterView,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const running = new Map<string, string>();
  await inSlices(policies, signal, (policy) => {
    if (isUsable(policy.spec)) running.set(policyKey(policy), imagesOf({ spec: policy.spec, cluster: asSeenBy(policy, cluster) }));
  });
  return running;
}

/** What the policy's targets run, as far as it may see them; the same text as long as that is the same. */
export function imagesOf({ spec, cluster }: Pick<Reconcile, 'spec' | 'cluster'>): string {
  return runningImages(resolveTargets(spec.targets, cluster));
}
