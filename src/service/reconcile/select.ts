/**
 * The stage `select`: decides which image should run. All ways lead to the same kind of value: the image that a push names (`select-hinted.ts`), the best of
 * all tags (`select-best.ts`), and the earlier image that a user asked for (`select-rollback.ts`).
 */
import type { Outcome } from '../../core/plan/outcome.ts';
import { isPending, isSameImage } from '../../core/plan/pending-candidate.ts';
import type { Candidate } from '../../core/model/image-reference.ts';
import { hasChanges } from '../../core/plan/plan-update.ts';
import { assess, type KnownEvidence } from './assess.ts';
import { imagesOf, type Attempt, type End, type Progress, type Reconcile, type StartAgain } from './attempt.ts';
import { completeSet } from './complete-set.ts';
import { readConsents } from './consents.ts';
import { findLack, rememberTags } from './examine-tag.ts';
import { withAges } from './first-change-ages.ts';
import { planFor, planWith, propose } from './plan.ts';
import type { Ports, Registry } from './ports.ts';
import { selectBest } from './select-best.ts';
import { selectAgain, selectHinted } from './select-hinted.ts';
import { selectRollback } from './select-rollback.ts';
import { isOld, mayGoBack, rejectTag, selectKnown, type Selected, type Selection } from './selection.ts';

export type SelectPorts = Pick<Ports, 'registry' | 'policies' | 'workloads' | 'vulnerabilities'>;

/** Selects an image. A later attempt keeps it, unless the running images changed and the selection would change them. */
export async function select(attempt: Attempt, ports: SelectPorts): Promise<Selected | End> {
  const { progress } = attempt;
  if (progress.selected !== undefined) return reconsider(attempt, progress.selected, ports);
  const selected = await selectAnew(attempt, ports);
  if ('kind' in selected || isVerifiedAhead(selected.selection)) return selected;
  return { again: 'Prepared', progress: { ...progress, selected } };
}

/** Whether signatures can be verified before the mutex is held. With a minimum age, only images of that age are verified, and their age is decided later. */
function isVerifiedAhead({ spec }: Selection): boolean {
  return spec.verification !== undefined && spec.minAgeMs === undefined;
}

async function selectAnew(attempt: Attempt, ports: SelectPorts): Promise<Selected | Outcome> {
  const { policy, spec, signal, progress } = attempt;
  await Promise.all([ports.workloads.awaitTargets(policy, spec, signal), readConsents(attempt, ports.workloads)]);
  const reconcile = { ...attempt, request: requestNow(attempt), spec: await rememberTags(attempt) };
  const running = imagesOf(reconcile);
  const selectedAt = attempt.cluster.now();
  const found = await selectImage(reconcile, ports);
  if ('kind' in found) return found;
  const aged = await withAges(reconcile, found, ports.registry);
  const confirmed = await confirmPending(reconcile, aged, ports.registry);
  // Evidence may take minutes, in which tags move.
  const answeredAt = attempt.cluster.now();
  const asking = { pending: pendingOf(confirmed), known: progress.evidence, answeredAt, mayAsk: true };
  const { isComplete: _, ...assessed } = await assess(reconcile, aged, asking, ports);
  return {
    ...assessed,
    running,
    selectedAt,
    policySpec: policy.spec,
    generation: policy.generation,
    status: policy.status,
    ...confirmed,
  };
}

/** The request without the answer of a moment ago, if an earlier attempt has used it. */
function requestNow({ request, progress }: Attempt): Attempt['request'] {
  const { answeredFor: _, ...others } = request;
  return progress.selected === undefined && progress.evidence === undefined ? request : others;
}

/** The image, or the result if there is none; throws PermanentError if no tag of the repository can be selected. */
async function selectImage(reconcile: Reconcile, ports: SelectPorts): Promise<Selection | Outcome> {
  const { spec, request } = reconcile;
  const { hint, rollbackTo, isAboutTargets } = request;
  if (rollbackTo !== undefined) return selectRollback(reconcile, rollbackTo, ports);
  const remembered = isAboutTargets === true ? selectRemembered(reconcile) : undefined;
  if (remembered !== undefined) return remembered;
  if (hint === undefined || spec.strategy.isProven === true) return selectBest(reconcile, ports.registry);
  const rejected = rejectTag(spec, hint.tag);
  if (rejected !== undefined) return rejected;
  if (mayGoBack(spec)) return selectBest(reconcile, ports.registry);
  const hinted = await selectHinted(reconcile, hint, ports.registry);
  // The image that was selected last cannot be used any more. A push of it would change nothing, so the policy has to select another one.
  return 'kind' in hinted && !request.announced ? selectBest(reconcile, ports.registry) : hinted;
}

/** The last selected image, if it changes nothing that runs now; undefined if that does not suffice and the registry has to be asked. */
function selectRemembered({ policy, spec, cluster }: Reconcile): Selection | undefined {
  const selection = selectKnown(policy, spec);
  const { waiting } = policy.status;
  if (spec.alongside !== undefined && policy.status.latest?.companions === undefined) return undefined;
  if (selection === undefined || 'kind' in selection || spec.strategy.withCreationTimes !== undefined) return undefined;
  if (spec.minAgeMs !== undefined && isPending(waiting) && waiting.tag !== selection.candidate.tag) return undefined;
  // What guards decide about evidence depends on the registry.
  const isByEvidence = spec.vulnerabilities !== undefined;
  const { targets } = isByEvidence ? propose(policy, selection, cluster).plan : planWith(policy, selection, cluster);
  const isChanged = targets.some(({ changes }) => changes.length > 0);
  return isChanged ? undefined : { ...selection, isRemembered: true };
}

async function reconsider(attempt: Attempt, selected: Selected, ports: SelectPorts): Promise<Selected | End> {
  const { request, progress, cluster } = attempt;
  const { selection, evidence } = selected;
  // Sources of evidence may take minutes, in which everything else about the policy would wait for its mutex.
  const selectOutside = evidence === undefined ? () => selectAnew(attempt, ports) : () => leaveMutex(progress, evidence);
  if (isOld(selected, cluster.now())) return selectOutside();
  const reconcile = { ...attempt, spec: selection.spec };
  const running = imagesOf(reconcile);
  if (running === selected.running) return selected;
  // If tags have an order, no new choice is made, so pushes since the selection are not considered.
  const isChosenAnew = mayGoBack(selection.spec) || selection.spec.strategy.mutableTag !== undefined;
  const selectedAt = isChosenAnew ? cluster.now() : selected.selectedAt;
  // A rollback is selected anew, because it must also leave what was applied since; and what others run, because a tag may have moved since.
  if (request.rollbackTo !== undefined || selection.spec.strategy.isProven === true) return selectOutside();
  if (!hasChanges(planFor(attempt, selection))) return { ...selected, running };
  const chosen = await selectAgain(reconcile, selection, ports.registry);
  const asking = { pending: pendingOf(selected), known: evidence, answeredAt: cluster.now(), mayAsk: false };
  const { isComplete, ...assessed } = await assess(reconcile, chosen, asking, ports);
  return isComplete ? { ...selected, ...assessed, running, selectedAt } : selectOutside();
}

/** Starts again without the mutex. What is known is used again, so that a source that is always slow is not asked for ever. */
function leaveMutex(progress: Progress, evidence: KnownEvidence): StartAgain {
  const { selected: _, verified: __, ...kept } = progress;
  return { again: 'Unassessed', progress: { ...kept, evidence } };
}

function pendingOf({ pending, pendingImage }: Pick<Selected, 'pending' | 'pendingImage'>): Candidate | undefined {
  return pendingImage ?? pending;
}

/**
 * The pending candidate, if it is still valid: the policy selects it, and the registry still returns the same digest. Costs one request to the registry unless
 * it is the image that was just selected.
 */
async function confirmPending(
  reconcile: Reconcile,
  { candidate, spec }: Selection,
  registry: Registry,
): Promise<Pick<Selected, 'pending' | 'pendingImage'>> {
  const { policy, signal } = reconcile;
  const { waiting } = policy.status;
  if (spec.minAgeMs === undefined || !isPending(waiting) || spec.strategy.reject(waiting.tag) !== undefined) return {};
  if (waiting.tag === candidate.tag || spec.strategy.isProven === true) return isSameImage(waiting, candidate) ? { pending: waiting } : {};
  const source = registry.sourceOf(policy, spec);
  const head = await registry.headManifest(source, waiting.tag, signal);
  if (head === undefined || head.digest !== waiting.digest) return {};
  if ((await findLack(waiting.tag, head.digest, { spec, source, signal }, registry)) !== undefined) return {};
  const whole = await completeSet({ tag: waiting.tag, digest: head.digest }, reconcile, registry);
  return isSameImage(waiting, whole.candidate) ? { pending: waiting, pendingImage: whole.candidate } : {};
}
