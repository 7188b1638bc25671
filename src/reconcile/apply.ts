import { PermanentError, WaitError } from '../model/errors.ts';
import { policyKey, type ImagePolicy, type PolicySpec } from '../model/image-policy.ts';
import type { AppliedChange, TargetPlan, TargetProblem, UpdatePlan } from '../plan/plan-update.ts';
import type { TriggerSource } from '../model/policy-status.ts';
import { withUpdates } from '../model/last-update.ts';
import { findContainer, identityOf, workloadKey, type Workload, type WorkloadRef, type ContainerChange } from '../model/workload.ts';
import { inParallel } from '../async/in-parallel.ts';

export interface ApplyPorts {
  /** Whether the policy is still the one that the plan was made for, as the API server confirmed within the last seconds. */
  readonly isCurrent: (policy: ImagePolicy, signal: AbortSignal) => Promise<boolean>;
  /** One guarded patch; `conflict`: the workload differs from the one that was planned with. */
  readonly patchImages: (
    workload: Workload,
    changes: readonly ContainerChange[],
    changeCause: string,
    signal: AbortSignal,
  ) => Promise<{ kind: 'patched'; workload: Workload } | { kind: 'conflict' }>;
  /** The workload as read from the API server. */
  readonly readWorkload: (ref: WorkloadRef, signal: AbortSignal) => Promise<Workload | undefined>;
  readonly onConflict: () => void;
  readonly now: () => number;
}

/** The result of the plans of one reconcile so far. */
export interface Progress {
  readonly applied: AppliedChange[];
  /** The workloads that this reconcile has read, by key; undefined for one that is gone. */
  readonly fresh: Map<string, Workload | undefined>;
  /** Why the API server rejects a change, by workload; retrying would not help. */
  readonly refused: Map<string, TargetProblem>;
}

/** The plan with rejected changes as problems, and whether more has to be done. */
export interface Application {
  readonly plan: UpdatePlan;
  readonly conflicts: number;
  /** A temporary failure: that of one workload, which represents all that failed. */
  readonly failure?: { readonly reason: unknown };
}

/** How many workloads are patched at the same time unless the policy sets a number. */
export const defaultParallel = 10;

/** The policy of the plan, and the cause of the reconcile. */
export interface Wish {
  readonly policy: ImagePolicy;
  readonly spec: Pick<PolicySpec, 'maxParallel'>;
  readonly source?: TriggerSource | undefined;
}

type ChangingPlan = TargetPlan & { readonly workload: Workload };

/** Patches the workloads of the plan, several at a time; a failure of one does not keep the others from being changed. */
export async function applyPlan(
  plan: UpdatePlan,
  { policy, spec, source = 'TargetChange' }: Wish,
  progress: Progress,
  ports: ApplyPorts,
  signal: AbortSignal,
): Promise<Application> {
  const { applied, refused } = progress;
  const { maxParallel = defaultParallel } = spec;
  const changing = withRefusals(plan, refused).targets.filter(isChanging);
  const cause = `image-watcher: ImagePolicy ${policyKey(policy)} selected ${plan.candidate.tag}`;
  const record = (target: ChangingPlan): ChangingPlan => {
    const details = {
      policy: policy.uid,
      trigger: source,
      at: new Date(ports.now()),
      tag: plan.candidate.tag,
      digest: plan.candidate.digest,
    };
    return { ...target, changes: withUpdates(target.workload, target.changes, details) };
  };
  const results = await inParallel(changing, maxParallel, async (target) =>
    (await ports.isCurrent(policy, signal)) ? patch(record(target), cause, progress, ports, signal) : 'conflict',
  );
  const failures: unknown[] = [];
  let conflicts = 0;
  for (const [index, { target, workload, changes }] of changing.entries()) {
    const result = results[index];
    if (result?.status === 'rejected') failures.push(result.reason);
    else if (result?.value === 'conflict') conflicts++;
    else if (result?.value === 'patched')
      applied.push(...changes.map((change) => toApplied(change, workload, progress.fresh.get(workloadKey(target)))));
  }
  const [failure] = failures.toSorted((a, b) => Number(b instanceof WaitError) - Number(a instanceof WaitError));
  return { plan: withRefusals(plan, refused), conflicts, ...(failures.length > 0 && { failure: { reason: failure } }) };
}

async function patch(
  { target, workload, changes }: ChangingPlan,
  cause: string,
  { fresh, refused }: Progress,
  ports: ApplyPorts,
  signal: AbortSignal,
): Promise<'patched' | 'conflict' | 'refused'> {
  const key = workloadKey(target);
  try {
    const result = await ports.patchImages(workload, changes, cause, signal);
    if (result.kind === 'patched') {
      fresh.set(key, result.workload);
      return 'patched';
    }
    ports.onConflict();
    fresh.set(key, await ports.readWorkload(target, signal));
    return 'conflict';
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    refused.set(key, { reason: error.reason, message: error.message });
    return 'refused';
  }
}

/** Admission may have rewritten the image. Fields of custom resources are left to their controller. */
function toApplied(change: ContainerChange, workload: Workload, patched: Workload | undefined): AppliedChange {
  const { container, fields, to } = change;
  const became = fields === undefined && patched !== undefined ? findContainer(patched, container)?.image : undefined;
  return { ...change, workload: identityOf(workload), ...(became !== undefined && became !== to && { became }) };
}

function withRefusals(plan: UpdatePlan, refused: Progress['refused']): UpdatePlan {
  if (refused.size === 0) return plan;
  const targets = plan.targets.map((target): TargetPlan => {
    const problem = refused.get(workloadKey(target.target));
    return problem === undefined ? target : { ...target, changes: [], problem };
  });
  return { ...plan, targets };
}

function isChanging(target: TargetPlan): target is ChangingPlan {
  return target.workload !== undefined && target.changes.length > 0;
}
