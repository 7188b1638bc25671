/**
 * The one path to a patch: choose the tag, ask the registry, plan, check the guards, apply. It reads all state itself and takes a job only as a hint, so lost,
 * repeated and reordered events do no harm.
 */
import type { Candidate } from '../model/image-reference.ts';
import { asSeenBy, consentTo, type ConsentRules } from '../plan/consent.ts';
import { PermanentError } from '../model/errors.ts';
import { decidePending, guardWait, isSameImage, type PendingCandidate, type PendingDecision } from '../plan/pending-candidate.ts';
import { isUsable, policyKey, type ImagePolicy, type PolicySpec } from '../model/image-policy.ts';
import { isBestSelection, isSelection } from '../plan/is-selection.ts';
import { type Outcome, outcomeOf, suspendedOutcome, withNotes, withPending } from '../plan/outcome.ts';
import type { TriggerSource } from '../model/policy-status.ts';
import { hasChanges, type AppliedChange, type UpdatePlan } from '../plan/plan-update.ts';
import { resolveTargets, type WorkloadView } from '../model/resolve-target.ts';
import { noteRetagged, runningImages } from '../plan/running-images.ts';
import { workloadKey, type WorkloadRef } from '../model/workload.ts';
import { applyPlan, type ApplyPorts, type Progress } from './apply.ts';
import { confirmPending, mayGoBack, withTime, type ChoiceRequest, type ChoosePorts, type Chosen } from './select.ts';
import { chooseRollback, type RollbackPorts } from './select-rollback.ts';
import { chooseAgain, chooseCandidate } from './select-hinted.ts';
import { gatherConsents, readConsents, type ConsentPorts } from './consents.ts';
import type { KeyedMutex } from '../async/serialize.ts';
import { rememberTags } from './examine-tag.ts';
import { planWith, type PlanPorts } from './plan.ts';
import { isHealedBySecret, type SecretVersions } from './enqueue/needs-reconcile.ts';
import { verifyCandidate, type VerifyPorts } from './verify.ts';

export interface ReconcileRequest extends ChoiceRequest {
  readonly policy: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** When the push, or whatever else caused the reconcile, was received. */
  readonly sinceMs?: number;
  /** `previous` or a tag: a user asked to roll back to that image, which then replaces what the policy selects. */
  readonly rollbackTo?: string;
  /** The cause of the reconcile, to be recorded on the workloads. */
  readonly source?: TriggerSource;
}

export interface ReconcilePorts extends PlanPorts, ChoosePorts, ConsentPorts, VerifyPorts, ApplyPorts, RollbackPorts {
  readonly findPolicy: (namespace: string, name: string) => ImagePolicy | undefined;
  /** Resolves when the workloads of these kinds are known, or when waiting longer is pointless. */
  readonly awaitTargets: (policy: Pick<ImagePolicy, 'namespace'>, spec: PolicySpec, signal: AbortSignal) => Promise<void>;
  /** Called with the changes that a failing reconcile had already made. */
  readonly onPartlyApplied?: (changes: readonly AppliedChange[]) => void;
  readonly mutex: KeyedMutex;
  readonly secretVersions: SecretVersions;
}

const maxPlans = 5;

/** Brings the targets of one policy to the image that it selects. Expected results are values; an exception means wait or try again. */
export async function reconcilePolicy(request: ReconcileRequest, ports: ReconcilePorts, signal: AbortSignal): Promise<Outcome> {
  for (let attempts = 0; attempts < maxPlans; attempts++) {
    const outcome = await attempt(request, ports, signal);
    if (outcome !== undefined) return outcome;
  }
  throw new Error(`${policyKey(request.policy)} changed under ${maxPlans} attempts in a row`);
}

/** Undefined when the policy, or a Secret that it depends on, changed meanwhile: the caller then starts again with the new state. */
async function attempt(request: ReconcileRequest, ports: ReconcilePorts, signal: AbortSignal): Promise<Outcome | undefined> {
  const policy = findSame(request, ports);
  if (policy === undefined) return { kind: 'ignored', reason: 'PolicyGone', message: `${policyKey(request.policy)} was deleted` };
  const suspended = suspendedOutcome(policy);
  if (suspended !== undefined) return suspended;
  if (!isUsable(policy.spec)) return { kind: 'stalled', ...policy.spec.problem };
  const versions = ports.secretVersions(policy, policy.spec);
  const outcome = await attemptWith(policy, policy.spec, request, ports, signal);
  // Reported now, it might overwrite the result of the reconcile that the change caused, and no other would follow.
  const isOutdated = outcome !== undefined && isHealedBySecret(outcome) && ports.secretVersions(policy, policy.spec) !== versions;
  return isOutdated ? undefined : outcome;
}

async function attemptWith(
  policy: ImagePolicy,
  written: PolicySpec,
  request: ReconcileRequest,
  ports: ReconcilePorts,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  try {
    await Promise.all([ports.awaitTargets(policy, written, signal), readConsents(policy, written, ports, signal)]);
    const spec = await rememberTags(policy, written, ports, signal);
    const seen = imagesOf(policy, spec, ports);
    const { rollbackTo } = request;
    if (rollbackTo !== undefined && policy.actions?.rollbackTo !== rollbackTo)
      return { kind: 'ignored', reason: 'Withdrawn', message: `the rollback to ${rollbackTo} was taken back before it was its turn` };
    const chosen =
      rollbackTo === undefined
        ? await chooseCandidate(policy, spec, request, ports, signal)
        : await chooseRollback(policy, spec, rollbackTo, ports, signal);
    if ('kind' in chosen) return chosen;
    const pending = await confirmPending(policy, chosen, ports, signal);
    const verified = await verifyAhead(policy, chosen, request, ports, signal);
    const choice = { chosen, seen, policy, verified, ...(pending && { pending }) };
    return await ports.mutex.run(policyKey(policy), () => bringTo(choice, request, ports, signal));
  } catch (error) {
    if (error instanceof PermanentError)
      return { kind: 'stalled', reason: error.reason, message: error.message, ...(error.retryAt && { retryAt: error.retryAt }) };
    throw error;
  }
}

/** The image that was chosen, and the state that the choice was based on. */
interface Choice {
  readonly chosen: Chosen;
  /** What the targets ran before the registry was asked. */
  readonly seen: string;
  /** The policy at that time. */
  readonly policy: ImagePolicy;
  /** The pending candidate, if it is still valid. */
  readonly pending?: PendingCandidate;
  /** The digest whose signatures were verified; undefined where none were demanded. */
  readonly verified: string | undefined;
}

/**
 * Verifies before the mutex is taken, so that a slow registry blocks no one else. Where the policy sets a minimum age, only images of that age are verified,
 * which is decided later.
 */
async function verifyAhead(
  policy: ImagePolicy,
  { candidate, spec }: Chosen,
  { sinceMs, rollbackTo }: ReconcileRequest,
  ports: ReconcilePorts,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (spec.minAgeMs !== undefined || spec.verification === undefined) return undefined;
  const plan = planWith(policy, spec, candidate, ports, { isRollback: rollbackTo !== undefined });
  return verifyCandidate(policy, spec, { plan, sinceMs }, ports, signal);
}

/** Plans and patches until the cluster agrees; a workload that turns out to have changed is read and planned again. */
async function bringTo(
  choice: Choice,
  request: ReconcileRequest,
  ports: ReconcilePorts,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  let { chosen, seen, verified } = choice;
  const progress: Progress = { applied: [], fresh: new Map(), refused: new Map() };
  const { applied, fresh } = progress;
  const findWorkload = (ref: WorkloadRef) => (fresh.has(workloadKey(ref)) ? fresh.get(workloadKey(ref)) : ports.findWorkload(ref));
  const cluster = { ...ports, findWorkload };
  const isRollback = request.rollbackTo !== undefined;
  const details = { applied, isRollback };
  for (let attempt = 0; attempt < maxPlans; attempt++) {
    const policy = findSame(request, ports);
    if (policy?.generation !== choice.policy.generation) return undefined;
    const running = imagesOf(policy, chosen.spec, cluster);
    if (running !== seen && !isRollback && hasChanges(planWith(policy, chosen.spec, chosen.candidate, cluster, details))) {
      chosen = await chooseAgain(chosen, policy, cluster, signal);
      seen = running;
    }
    const { spec } = chosen;
    const isWanted = (candidate: Candidate) => hasChanges(planWith(policy, spec, candidate, cluster, details));
    const decision = isRollback ? { apply: chosen.candidate } : pendingDecisionOf(choice, chosen, isWanted, ports.now());
    const candidate = withTime(decision.apply ?? chosen.candidate, chosen);
    const unasked = planWith(policy, spec, candidate, cluster, details);
    if (decision.apply !== undefined && (verified === undefined || verified !== candidate.digest)) {
      verified = await verifyCandidate(policy, spec, { plan: unasked, sinceMs: request.sinceMs }, ports, signal);
      // The policy's author chooses the registry, which may be slow: policy and consents are read after it has answered.
      if (verified !== undefined) continue;
    }
    const consents = await gatherConsents(policy, unasked, { fresh, ports, signal });
    // These reads may show that another writer was faster, or that a consent was withdrawn.
    if (imagesOf(policy, spec, cluster) !== running) continue;
    const planned = consents.size === 0 ? unasked : planWith(policy, spec, candidate, cluster, { ...details, consents });
    const application =
      decision.apply === undefined
        ? undefined
        : await applyPlan(planned, { policy, spec, source: request.source }, progress, ports, signal);
    const { plan, conflicts, failure } = application ?? { plan: planned, conflicts: 0 };
    if (failure !== undefined) {
      ports.onPartlyApplied?.(applied);
      throw failure.reason;
    }
    if (conflicts === 0) {
      const legacy = legacyTargets(plan, policy, cluster);
      const isNowSelected = decision.apply !== undefined && !isRollback && isSelected(chosen, plan, policy);
      const ending = outcomeOf(plan, applied, isNowSelected);
      const isPointedAt = !isBestOfAll(chosen, plan);
      const selection = ending.selection && { ...ending.selection, ...(isPointedAt && { isPointedAt }) };
      const outcome = withNotes({ ...ending, ...(selection && { selection }), legacy }, chosen.notes);
      const { waiting } = choice.policy.status;
      const guarded = guardWait(plan, waiting, new Date(ports.now()));
      // An image older than the selected one does not replace the pending candidate.
      if (isRollback || (guarded !== undefined && !isNowSelected)) return outcome;
      const noted = noteRetagged(outcome, policy, request);
      // Nor does a tag that changes nothing: without a minimum age, only a reconcile of the pending image itself, or of all tags, can say whether it is still
      // pending.
      if (!isNowSelected && !chosen.isComplete && spec.minAgeMs === undefined) return noted;
      const next = guarded ?? (decision.next !== undefined && isWanted(decision.next) ? decision.next : undefined);
      return withPending(
        noted,
        { ...(waiting && { seen: waiting }), ...(next && { next }) },
        guarded !== undefined || decision.apply === undefined,
      );
    }
  }
  throw new Error(`the targets of ${policyKey(request.policy)} changed under ${maxPlans} plans in a row`);
}

/** Whether the plan brings the targets to the image that the policy selects, not to an intermediate one. */
function isSelected(chosen: Chosen, plan: UpdatePlan, policy: ImagePolicy): boolean {
  const { spec } = chosen;
  return isBestOfAll(chosen, plan) ? isBestSelection(spec, plan) : isSelection(plan.candidate, spec, policy, plan);
}

function isBestOfAll({ candidate, isComplete }: Chosen, plan: UpdatePlan): boolean {
  return isComplete && isSameImage(candidate, plan.candidate);
}

/** Decides which candidate is applied now: without a minimum age, the chosen one. */
function pendingDecisionOf(
  { policy, pending }: Choice,
  { candidate, spec }: Chosen,
  isWanted: (candidate: Candidate) => boolean,
  now: number,
): PendingDecision {
  const { minAgeMs } = spec;
  if (minAgeMs === undefined) return { apply: candidate };
  // Where the best image runs already, applying the pending candidate would be a downgrade.
  const mayStay = pending !== undefined && (!mayGoBack(spec) || isWanted(candidate));
  return decidePending({ minAgeMs, candidate, status: policy.status, isWanted, now, ...(mayStay && { pending }) });
}

function imagesOf(policy: ImagePolicy, { targets }: PolicySpec, view: WorkloadView & ConsentRules): string {
  return runningImages(resolveTargets(targets, asSeenBy(policy, view)));
}

/** Targets in other namespaces whose owners have neither given nor refused consent. */
function legacyTargets({ targets }: UpdatePlan, policy: ImagePolicy, rules: ConsentRules): WorkloadRef[] {
  return targets.flatMap(({ target, workload }) => {
    const consent = workload && consentTo(workload, policy, rules);
    return consent?.granted === true && consent.isLegacy === true ? [target] : [];
  });
}

/** The policy of the request; a policy that was deleted and created anew under the same name is another one. */
function findSame(request: ReconcileRequest, ports: Pick<ReconcilePorts, 'findPolicy'>): ImagePolicy | undefined {
  const policy = ports.findPolicy(request.policy.namespace, request.policy.name);
  return policy?.uid === request.policy.uid ? policy : undefined;
}
