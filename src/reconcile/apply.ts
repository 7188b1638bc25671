/** The stage `apply`: asks the owners of other namespaces, and sends one guarded patch for each workload. */
import type { AppliedChange, TargetPlan, TargetProblem, UpdatePlan } from '../plan/plan-update.ts';
import type { PendingDecision } from '../plan/pending-candidate.ts';
import { PermanentError, WaitError } from '../model/errors.ts';
import { policyKey } from '../model/image-policy.ts';
import { lastUpdateOf, withUpdates } from '../model/last-update.ts';
import { findContainer, identityOf, workloadKey, type ContainerChange, type Workload } from '../model/workload.ts';
import { inParallel } from '../async/in-parallel.ts';
import { imagesOf, withProgress, type Attempt, type Progress, type StartAgain } from './attempt.ts';
import { gatherConsents } from './consents.ts';
import { planWith, type Planned } from './plan.ts';
import type { Ports } from './ports.ts';
import type { Selected } from './selection.ts';

export type ApplyPorts = Pick<Ports, 'policies' | 'workloads'>;

/** A plan after all of it was applied, except what is blocked, has a problem, or is not due. */
export interface Applied {
  readonly selected: Selected;
  readonly decision: PendingDecision;
  readonly plan: UpdatePlan;
  /** The attempt that applied it, and knows the workloads as they are now. */
  readonly attempt: Attempt;
}

/** How many workloads are patched at the same time unless the policy sets a number. */
export const defaultParallel = 10;

type ChangingPlan = TargetPlan & { readonly workload: Workload };

/** Applies a plan. Throws where a workload failed for the moment; the others are changed all the same. */
export async function apply(attempt: Attempt, { selected, decision, plan }: Planned, ports: ApplyPorts): Promise<Applied | StartAgain> {
  const { policy } = attempt;
  const { selection, running } = selected;
  const { consents, read } = await gatherConsents(attempt, plan, ports.workloads);
  const { fresh, applied } = attempt.progress;
  const asked = withProgress(attempt, { ...attempt.progress, selected, fresh: new Map([...fresh, ...read]) });
  // These reads may show that another writer was faster, or that a consent was withdrawn.
  if (imagesOf({ ...asked, spec: selection.spec }) !== running) return { again: 'TargetChanged', progress: asked.progress };
  const candidate = plan.candidate;
  const agreed = consents.size === 0 ? plan : planWith(policy, { ...selection, candidate }, asked.cluster, { applied, consents });
  if (decision.apply === undefined) return { selected, decision, plan: agreed, attempt: asked };
  const results = await patchAll(agreed, asked, ports);
  const progress = recordResults(asked.progress, results);
  const failures = results.flatMap(({ result }) => (result.kind === 'failed' ? [result.reason] : []));
  if (failures.length > 0) {
    attempt.request.onPartlyApplied?.(progress.applied);
    // One represents all; a wait says when to come back.
    throw failures.find((reason) => reason instanceof WaitError) ?? failures[0];
  }
  if (results.some(({ result }) => result.kind === 'conflict')) return { again: 'Conflict', progress };
  return { selected, decision, plan: withRefusals(agreed, progress.refused), attempt: withProgress(asked, progress) };
}

/** What became of one workload, as it is now; where it is the policy that is outdated, the workload is not read. */
type PatchResult =
  | { readonly kind: 'patched'; readonly workload: Workload }
  | { readonly kind: 'conflict'; readonly workload?: Workload | undefined }
  | { readonly kind: 'refused'; readonly problem: TargetProblem }
  | { readonly kind: 'failed'; readonly reason: unknown };

interface TargetResult {
  readonly target: ChangingPlan;
  readonly result: PatchResult;
}

/** Patches several workloads at a time. */
async function patchAll(plan: UpdatePlan, attempt: Attempt, ports: ApplyPorts): Promise<TargetResult[]> {
  const { policy, spec, signal } = attempt;
  const changing = withRefusals(plan, attempt.progress.refused).targets.filter(isChanging);
  const results = await inParallel(changing, spec.maxParallel ?? defaultParallel, async (target): Promise<TargetResult> => {
    const result = (await ports.policies.isCurrent(policy, signal))
      ? await patch(target, plan, attempt, ports)
      : ({ kind: 'conflict' } as const);
    return { target, result };
  });
  return changing.map((target, index) => {
    const result = results[index];
    return result?.status === 'fulfilled' ? result.value : { target, result: { kind: 'failed', reason: result?.reason } };
  });
}

async function patch(planned: ChangingPlan, { candidate }: UpdatePlan, attempt: Attempt, ports: ApplyPorts): Promise<PatchResult> {
  const { policy, request, cluster, signal } = attempt;
  const { source: trigger = 'TargetChange' } = request;
  const { target, workload } = planned;
  const { tag, digest } = candidate;
  const cause = `image-watcher: ImagePolicy ${policyKey(policy)} selected ${tag}`;
  const changes = withUpdates(workload, planned.changes, { policy: policy.uid, trigger, at: new Date(cluster.now()), tag, digest });
  try {
    const result = await ports.workloads.patchImages(workload, changes, cause, signal);
    if (result.kind === 'patched') return result;
    ports.workloads.onConflict();
    return { kind: 'conflict', workload: await ports.workloads.read(target, signal) };
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    return { kind: 'refused', problem: { reason: error.reason, message: error.message } };
  }
}

function recordResults({ applied, fresh, refused, ...progress }: Progress, results: readonly TargetResult[]): Progress {
  const made = results.flatMap(({ target: { workload, changes }, result }) =>
    result.kind === 'patched' ? changes.map((change) => toApplied(change, workload, result.workload)) : [],
  );
  const read = results.flatMap(({ target: { target }, result }): [string, Workload | undefined][] => {
    if (result.kind === 'patched') return [[workloadKey(target), result.workload]];
    return result.kind === 'conflict' && 'workload' in result ? [[workloadKey(target), result.workload]] : [];
  });
  const problems = results.flatMap(({ target: { target }, result }): [string, TargetProblem][] =>
    result.kind === 'refused' ? [[workloadKey(target), result.problem]] : [],
  );
  return { ...progress, applied: [...applied, ...made], fresh: new Map([...fresh, ...read]), refused: new Map([...refused, ...problems]) };
}

/** Admission may have rewritten the image. Fields of custom resources are left to their controller. */
function toApplied(change: ContainerChange, workload: Workload, patched: Workload): AppliedChange {
  const { container, fields, to } = change;
  const became = fields === undefined ? findContainer(patched, container)?.image : undefined;
  const record = lastUpdateOf(patched, container);
  return {
    ...change,
    workload: identityOf(workload),
    ...(became !== undefined && became !== to && { became }),
    ...(record?.to === to && { at: record.at }),
  };
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
