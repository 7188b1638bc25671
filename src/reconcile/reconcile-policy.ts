/**
 * The one path to a patch: choose the tag, ask the registry, plan, guard, apply. Reads all state itself; a hint only says where to
 * look, so lost, doubled and reordered events do no harm.
 */
import type { Candidate } from '../model/image-reference.ts';
import { asSeenBy, consentTo, type ConsentRules } from '../plan/consent.ts';
import { PermanentError } from '../model/errors.ts';
import { guardWait } from '../plan/guard-wait.ts';
import { isUsable, policyKey, type ImagePolicy, type PolicySpec } from '../model/image-policy.ts';
import { isBestSelection, isSelection } from '../plan/is-selection.ts';
import { outcomeOf, withNotes, withPlace, type Outcome } from '../plan/outcome.ts';
import type { TriggerSource } from '../model/policy-status.ts';
import { hasChanges, type AppliedChange, type UpdatePlan } from '../plan/plan-update.ts';
import { resolveTargets, type WorkloadView } from '../model/resolve-target.ts';
import { runningImages } from '../plan/running-images.ts';
import { tellRetagged } from '../plan/retagged.ts';
import { suspendedOutcome } from '../plan/suspended-outcome.ts';
import { takeTurns, type Turn } from '../plan/take-turns.ts';
import { isSameImage, type PlacedWaiting } from '../plan/waiting.ts';
import { workloadKey, type WorkloadRef } from '../model/workload.ts';
import { applyPlan, type ApplyPorts, type Progress } from './apply-plan.ts';
import { checkPlace } from './check-place.ts';
import { chooseRollback, type RollbackPorts } from './choose-rollback.ts';
import { mayGoBack, withTime, type ChoiceRequest, type ChoosePorts, type Chosen } from './choice.ts';
import { chooseAgain, chooseCandidate } from './choose-candidate.ts';
import { gatherConsents, readConsents, type ConsentPorts } from './gather-consents.ts';
import type { KeyedMutex } from '../async/keyed-mutex.ts';
import { rememberTags } from './needed-tags.ts';
import { planWith, type PlanPorts } from './plan-with.ts';
import { isHealedBySecret, type SecretVersions } from './needs-reconcile.ts';
import { verifyCandidate, type VerifyPorts } from './verify-candidate.ts';

export interface ReconcileRequest extends ChoiceRequest {
  readonly policy: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** When the push came, or what else made us look. */
  readonly sinceMs?: number;
  /** `previous` or a tag: a user wants to go back to that, instead of what the policy selects. */
  readonly rollbackTo?: string;
  /** What made us look, for the workloads to remember. */
  readonly source?: TriggerSource;
}

export interface ReconcilePorts extends PlanPorts, ChoosePorts, ConsentPorts, VerifyPorts, ApplyPorts, RollbackPorts {
  readonly findPolicy: (namespace: string, name: string) => ImagePolicy | undefined;
  /** Resolves when the workloads of these kinds are known, or it is not worth waiting for them. */
  readonly awaitTargets: (policy: Pick<ImagePolicy, 'namespace'>, spec: PolicySpec, signal: AbortSignal) => Promise<void>;
  /** Told of what was changed by a look that then fails. */
  readonly onPartlyApplied?: (changes: readonly AppliedChange[]) => void;
  readonly mutex: KeyedMutex;
  readonly secretVersions: SecretVersions;
}

const maxPlans = 5;

/** Brings the targets of one policy to the image that it selects. Expected endings are values; a throw means wait or try again. */
export async function reconcilePolicy(request: ReconcileRequest, ports: ReconcilePorts, signal: AbortSignal): Promise<Outcome> {
  for (let looks = 0; looks < maxPlans; looks++) {
    const outcome = await attempt(request, ports, signal);
    if (outcome !== undefined) return outcome;
  }
  throw new Error(`${policyKey(request.policy)} changed under ${maxPlans} looks in a row`);
}

/** Undefined when the policy, or a Secret that it hangs on, was changed meanwhile: what was announced has to be looked at with what they say now. */
async function attempt(request: ReconcileRequest, ports: ReconcilePorts, signal: AbortSignal): Promise<Outcome | undefined> {
  const policy = findSame(request, ports);
  if (policy === undefined) return { kind: 'ignored', reason: 'PolicyGone', message: `${policyKey(request.policy)} was deleted` };
  const suspended = suspendedOutcome(policy);
  if (suspended !== undefined) return suspended;
  if (!isUsable(policy.spec)) return { kind: 'stalled', ...policy.spec.problem };
  const versions = ports.secretVersions(policy, policy.spec);
  const outcome = await attemptWith(policy, policy.spec, request, ports, signal);
  // Told now, it might come after the look that the change caused, and nobody would look again.
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
      return { kind: 'ignored', reason: 'Withdrawn', message: `the rollback to ${rollbackTo} was taken back before its turn came` };
    const chosen =
      rollbackTo === undefined
        ? await chooseCandidate(policy, spec, request, ports, signal)
        : await chooseRollback(policy, spec, rollbackTo, ports, signal);
    if ('kind' in chosen) return chosen;
    const holder = await checkPlace(policy, chosen, ports, signal);
    const verified = await verifyAhead(policy, chosen, request, ports, signal);
    const choice = { chosen, seen, policy, verified, ...(holder && { holder }) };
    return await ports.mutex.run(policyKey(policy), () => bringTo(choice, request, ports, signal));
  } catch (error) {
    if (error instanceof PermanentError)
      return { kind: 'stalled', reason: error.reason, message: error.message, ...(error.retryAt && { retryAt: error.retryAt }) };
    throw error;
  }
}

/** What was chosen, and with what in view. */
interface Choice {
  readonly chosen: Chosen;
  /** What the targets ran before the registry was asked. */
  readonly seen: string;
  /** The policy as it was then. */
  readonly policy: ImagePolicy;
  /** What waits, and still may. */
  readonly holder?: PlacedWaiting;
  /** The digest whose signatures were found in order, where they are looked at. */
  readonly verified: string | undefined;
}

/** Before the mutex, so that a slow registry is waited for outside of it; where images need an age, only what has it is verified. */
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

/** Plans and patches until the cluster agrees; what a patch found changed is read again and planned again. */
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
    const turn = isRollback ? { apply: chosen.candidate } : turnOf(choice, chosen, isWanted, ports.now());
    const candidate = withTime(turn.apply ?? chosen.candidate, chosen);
    const unasked = planWith(policy, spec, candidate, cluster, details);
    if (turn.apply !== undefined && (verified === undefined || verified !== candidate.digest)) {
      verified = await verifyCandidate(policy, spec, { plan: unasked, sinceMs: request.sinceMs }, ports, signal);
      // The registry, which the policy's author chooses, may have taken its time: what policy and owners say is asked after it.
      if (verified !== undefined) continue;
    }
    const consents = await gatherConsents(policy, unasked, { fresh, ports, signal });
    // What was read for them may show that somebody was faster, or has withdrawn the consent.
    if (imagesOf(policy, spec, cluster) !== running) continue;
    const planned = consents.size === 0 ? unasked : planWith(policy, spec, candidate, cluster, { ...details, consents });
    const application =
      turn.apply === undefined ? undefined : await applyPlan(planned, { policy, spec, source: request.source }, progress, ports, signal);
    const { plan, conflicts, failure } = application ?? { plan: planned, conflicts: 0 };
    if (failure !== undefined) {
      ports.onPartlyApplied?.(applied);
      throw failure.reason;
    }
    if (conflicts === 0) {
      const legacy = legacyTargets(plan, policy, cluster);
      const isNowSelected = turn.apply !== undefined && !isRollback && isSelected(chosen, plan, policy);
      const ending = outcomeOf(plan, applied, isNowSelected);
      const isPointedAt = !isBestOfAll(chosen, plan);
      const selection = ending.selection && { ...ending.selection, ...(isPointedAt && { isPointedAt }) };
      const outcome = withNotes({ ...ending, ...(selection && { selection }), legacy }, chosen.notes);
      const { waiting } = choice.policy.status;
      const guarded = guardWait(plan, waiting, new Date(ports.now()));
      // Something older than what is selected takes nobody's place.
      if (isRollback || (guarded !== undefined && !isNowSelected)) return outcome;
      const told = tellRetagged(outcome, policy, request);
      // Nor does a tag that changes nothing: where images need no age, only a look at what waits, or at all, says anything about it.
      if (!isNowSelected && !chosen.isComplete && spec.minAgeMs === undefined) return told;
      const next = guarded ?? (turn.next !== undefined && isWanted(turn.next) ? turn.next : undefined);
      return withPlace(
        told,
        { ...(waiting && { seen: waiting }), ...(next && { next }) },
        guarded !== undefined || turn.apply === undefined,
      );
    }
  }
  throw new Error(`the targets of ${policyKey(request.policy)} changed under ${maxPlans} plans in a row`);
}

/** Whether the plan brings the targets to what the policy selects, and not just to something on the way there. */
function isSelected(chosen: Chosen, plan: UpdatePlan, policy: ImagePolicy): boolean {
  const { spec } = chosen;
  return isBestOfAll(chosen, plan) ? isBestSelection(spec, plan) : isSelection(plan.candidate, spec, policy, plan);
}

function isBestOfAll({ candidate, isComplete }: Chosen, plan: UpdatePlan): boolean {
  return isComplete && isSameImage(candidate, plan.candidate);
}

/** Whose turn it is: where images need no age, the chosen one's. */
function turnOf({ policy, holder }: Choice, { candidate, spec }: Chosen, isWanted: (candidate: Candidate) => boolean, now: number): Turn {
  const { minAgeMs } = spec;
  if (minAgeMs === undefined) return { apply: candidate };
  // Where the best one runs already, what waits would be a way back.
  const mayStay = holder !== undefined && (!mayGoBack(spec) || isWanted(candidate));
  return takeTurns({ minAgeMs, candidate, status: policy.status, isWanted, now, ...(mayStay && { holder }) });
}

function imagesOf(policy: ImagePolicy, { targets }: PolicySpec, view: WorkloadView & ConsentRules): string {
  return runningImages(resolveTargets(targets, asSeenBy(policy, view)));
}

/** Targets in other namespaces whose owners have not answered. */
function legacyTargets({ targets }: UpdatePlan, policy: ImagePolicy, rules: ConsentRules): WorkloadRef[] {
  return targets.flatMap(({ target, workload }) => {
    const consent = workload && consentTo(workload, policy, rules);
    return consent?.granted === true && consent.isLegacy === true ? [target] : [];
  });
}

/** The policy that was meant; one of the same name that was created anew is another. */
function findSame(request: ReconcileRequest, ports: Pick<ReconcilePorts, 'findPolicy'>): ImagePolicy | undefined {
  const policy = ports.findPolicy(request.policy.namespace, request.policy.name);
  return policy?.uid === request.policy.uid ? policy : undefined;
}
