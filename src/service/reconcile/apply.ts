/** The stage `apply`: asks the owners of other namespaces, and sends one guarded patch for each workload. */
import { refuse } from '../../core/plan/guard-plan.ts';
import type { AppliedChange, TargetPlan, TargetProblem, UpdatePlan } from '../../core/plan/plan-update.ts';
import type { PendingDecision } from '../../core/plan/pending-candidate.ts';
import { pushOfWaves } from '../../core/plan/push-changes.ts';
import { failedTries } from '../../core/plan/retries.ts';
import { defined } from '../../core/model/defined.ts';
import { confirmAll, type Confirm } from '../../core/model/confirmation.ts';
import { PermanentError, WaitError } from '../../core/model/errors.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { selectingPush } from '../../core/model/is-triggered.ts';
import { lastUpdateOf, withUpdates } from '../../core/model/last-update.ts';
import { findContainer, identityOf, isNewer, workloadKey, type ContainerChange, type Workload } from '../../core/model/workload.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import { imagesOf, withProgress, type Attempt, type Progress, type StartAgain } from './attempt.ts';
import { confirmSource, gatherConsents, type ConfirmConsent } from './consents.ts';
import { gatherProof, type GatheredProof } from './followed.ts';
import { planWith, type Planned } from './plan.ts';
import type { Ports } from './ports.ts';
import { isOld, type Selected } from './selection.ts';

export type ApplyPorts = Pick<Ports, 'policies' | 'workloads' | 'cluster'>;

/** A plan after it was applied, except changes that are blocked, have a problem, or are not due. */
export interface Applied {
  readonly selected: Selected;
  readonly decision: PendingDecision;
  readonly plan: UpdatePlan;
  readonly skipped: Planned['skipped'];
  /** The attempt that applied the plan, with the workloads as they are now. */
  readonly attempt: Attempt;
}

/** How many workloads are patched at the same time unless the policy sets a number. */
export const defaultParallel = 10;

type ChangingPlan = TargetPlan & { readonly workload: Workload };

/** Applies a plan. Throws if a workload failed with an error that may pass; the other workloads are changed all the same. */
export async function apply(
  attempt: Attempt,
  { selected, decision, plan, skipped }: Planned,
  ports: ApplyPorts,
): Promise<Applied | StartAgain> {
  const { policy } = attempt;
  const { selection, running } = selected;
  const { consents, read, confirm: confirmConsent } = await gatherConsents(attempt, plan, ports.workloads);
  const proof = await gatherProof(attempt, selection, plan, ports);
  const { fresh, applied, refused } = attempt.progress;
  const followed = proof?.followed;
  const asked = withProgress(attempt, {
    ...attempt.progress,
    selected,
    fresh: new Map([...fresh, ...read]),
    ...defined({ followed }),
  });
  // The reads of the consents may show that another writer was faster, or that a consent was withdrawn.
  if (imagesOf({ ...asked, spec: selection.spec }) !== running) return { again: 'TargetChanged', progress: asked.progress };
  const candidate = plan.candidate;
  const planAgain = (known: Progress['refused']) =>
    planWith(policy, { ...selection, candidate }, asked.cluster, { applied, refused: known, consents, ...defined({ followed }) });
  const agreed = consents.size === 0 && followed === undefined ? plan : planAgain(refused);
  if (decision.apply === undefined) return { selected, decision, plan: agreed, skipped, attempt: asked };
  const patchSome: PatchAll = (one, targets) =>
    patchAll(one, targets, asked, { ...ports, confirmConsent, confirmProof: proof?.confirm, skipped });
  const hasWaves = selection.spec.rollout?.waves !== undefined && selection.rules === undefined;
  const { made, results } = hasWaves
    ? await patchWave({ plan: agreed, refused, planAgain, patch: patchSome })
    : { made: agreed, results: await patchSome(agreed, withRefusals(agreed, refused).targets.filter(isChanging)) };
  const progress = recordResults(asked.progress, results);
  const failures = results.flatMap(({ result }) => (result.kind === 'failed' ? [result.reason] : []));
  if (failures.length > 0) {
    attempt.request.onPartlyApplied?.(progress.applied);
    // One failure represents all. A WaitError is preferred, because it says when to try again.
    throw failures.find((reason) => reason instanceof WaitError) ?? failures[0];
  }
  if (results.some(({ result }) => result.kind === 'outdated')) return { again: 'Outdated', progress };
  const conflicts = results.filter(({ result }) => result.kind === 'conflict');
  if (conflicts.length > 0) return { again: conflicts.every(isOvertaken) ? 'Overtaken' : 'Conflict', progress };
  return { selected, decision, plan: withRefusals(made, progress.refused), skipped, attempt: withProgress(asked, progress) };
}

/** The result of the patch of one workload, as it is now. `outdated`: the plan no longer applies (policy, consent or registry's answer); nothing is read. */
type PatchResult =
  | { readonly kind: 'patched'; readonly workload: Workload }
  | { readonly kind: 'conflict'; readonly workload: Workload | undefined }
  | { readonly kind: 'outdated' }
  | { readonly kind: 'refused'; readonly problem: TargetProblem }
  | { readonly kind: 'failed'; readonly reason: unknown };

interface TargetResult {
  readonly target: ChangingPlan;
  readonly result: PatchResult;
}

/** Whether the workload is newer than the one that the change was planned with. Each such conflict means that another writer has made progress. */
function isOvertaken({ target: { workload: planned }, result }: TargetResult): boolean {
  return result.kind === 'conflict' && result.workload !== undefined && isNewer(result.workload.resourceVersion, planned.resourceVersion);
}

/** Patches some targets of a plan. */
type PatchAll = (plan: UpdatePlan, targets: readonly ChangingPlan[]) => Promise<TargetResult[]>;

interface WaveToPatch {
  readonly plan: UpdatePlan;
  readonly refused: Progress['refused'];
  /** Makes the plan again, without the changes that the API server has refused. It uses the consents of all workloads that wait for a wave. */
  readonly planAgain: (refused: Progress['refused']) => UpdatePlan;
  readonly patch: PatchAll;
}

/**
 * Patches a wave: its first workload alone and, once that is accepted, the others. A refused workload leaves its place to another one, or ends the rollout if
 * `maxFailures` says so. No refusal is stored: a workload that was refused before comes first again, so its refusal is known before anything else is changed.
 * Also returns the plan that was carried out.
 */
async function patchWave({ plan, refused, planAgain, patch }: WaveToPatch): Promise<{ made: UpdatePlan; results: TargetResult[] }> {
  const [first, ...others] = plan.targets.filter(isChanging).toSorted((a, b) => (workloadKey(a.target) < workloadKey(b.target) ? -1 : 1));
  if (first === undefined) return { made: plan, results: [] };
  const begun = await patch(plan, [first]);
  const problems = refusalsIn(begun);
  if (problems.length === 0) return { made: plan, results: [...begun, ...(await patch(plan, others))] };
  const known = new Map([...refused, ...problems]);
  const next = await patchWave({ plan: planAgain(known), refused: known, planAgain, patch });
  return { made: next.made, results: [...begun, ...next.results] };
}

/** What is confirmed before each try of a patch, besides the policy, and what the record of the cause says about waits. */
interface Confirmations extends Pick<Planned, 'skipped'> {
  readonly confirmConsent: ConfirmConsent;
  /** Absent for a policy that follows no other one. */
  readonly confirmProof: GatheredProof['confirm'] | undefined;
}

/** Patches the workloads of a plan, several in parallel. */
async function patchAll(
  plan: UpdatePlan,
  changing: readonly ChangingPlan[],
  attempt: Attempt,
  { confirmConsent, confirmProof, skipped, ...ports }: ApplyPorts & Confirmations,
): Promise<TargetResult[]> {
  const { policy, spec, signal, cluster, progress } = attempt;
  const isAnswerOld = () => progress.selected !== undefined && isOld(progress.selected, cluster.now());
  const results = await inParallel(changing, spec.maxParallel ?? defaultParallel, async (target): Promise<TargetResult> => {
    const confirm: Confirm = async () =>
      isAnswerOld()
        ? undefined
        : confirmAll([
            () => ports.policies.confirm(policy, signal),
            () => confirmConsent(target.workload),
            ...(confirmProof === undefined ? [] : [confirmProof]),
            ...target.changes.flatMap(({ source }) =>
              source === undefined ? [] : [() => confirmSource(source, attempt, ports.workloads)],
            ),
          ]);
    return { target, result: await patch(target, plan, attempt, { ...ports, skipped, confirm }) };
  });
  return changing.map((target, index) => {
    const result = results[index];
    return result?.status === 'fulfilled' ? result.value : { target, result: { kind: 'failed', reason: result?.reason } };
  });
}

async function patch(
  planned: ChangingPlan,
  plan: UpdatePlan,
  attempt: Attempt,
  ports: ApplyPorts & Pick<Planned, 'skipped'> & { readonly confirm: Confirm },
): Promise<PatchResult> {
  const { policy, request, cluster, signal } = attempt;
  const { source: trigger = 'TargetChange' } = request;
  const { target, workload } = planned;
  const { candidate } = plan;
  const { tag, digest, setDigest } = candidate;
  const cause = [`image-watcher: ImagePolicy ${policyKey(policy)} selected ${tag}`, ...ports.skipped].join('; ');
  const at = new Date(cluster.now());
  const left = attempt.progress.selected?.selection.rules?.left;
  const retry = (container: string) => failedTries({ workload, container, candidate }, policy, at);
  const changes = withUpdates(workload, planned.changes, {
    policy: policy.uid,
    trigger,
    at,
    tag,
    digest,
    setDigest,
    left,
    retry,
    // An image that had to wait is still that of its push.
    event: pushOfWaves(plan, policy) ?? request.eventId ?? selectingPush(policy.status, candidate, request.source),
  });
  try {
    const result = await ports.workloads.patchImages(workload, changes, { changeCause: cause, confirm: ports.confirm }, signal);
    if (result.kind === 'patched' || result.kind === 'outdated') return result;
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
    return result.kind === 'conflict' ? [[workloadKey(target), result.workload]] : [];
  });
  const known = new Map([...refused, ...refusalsIn(results)]);
  return { ...progress, applied: [...applied, ...made], fresh: new Map([...fresh, ...read]), refused: known };
}

function refusalsIn(results: readonly TargetResult[]): [string, TargetProblem][] {
  return results.flatMap(({ target: { target }, result }): [string, TargetProblem][] =>
    result.kind === 'refused' ? [[workloadKey(target), result.problem]] : [],
  );
}

/** The change with the image that the workload has now, because admission may have rewritten it. Fields of custom resources are left to their controller. */
function toApplied(change: ContainerChange, workload: Workload, patched: Workload): AppliedChange {
  const { container, fields, to, alongside } = change;
  const became = fields === undefined ? findContainer(patched, container)?.image : undefined;
  const found = lastUpdateOf(patched, container);
  const update = found?.to === to ? found : undefined;
  return {
    ...change,
    workload: identityOf(workload),
    ...(alongside && { alongside: alongside.map((one) => ({ ...one, to: findContainer(patched, one.container)?.image ?? one.to })) }),
    ...(became !== undefined && became !== to && { became }),
    ...(update !== undefined && { update, at: update.at }),
  };
}

function withRefusals(plan: UpdatePlan, refused: Progress['refused']): UpdatePlan {
  if (refused.size === 0) return plan;
  const targets = plan.targets.map((target): TargetPlan => {
    const problem = refused.get(workloadKey(target.target));
    return problem === undefined ? target : refuse(target, problem);
  });
  return { ...plan, targets };
}

function isChanging(target: TargetPlan): target is ChangingPlan {
  return target.workload !== undefined && target.changes.length > 0;
}
