import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import type { Outcome } from '../plan/outcome.ts';
import { mayGoBack, type ChoiceRequest, type ChoosePorts, type Chosen } from './select.ts';
import { chooseBest } from './select-best.ts';
import { examineTag, neededTags } from './examine-tag.ts';
import { readSomeTimes } from './creation-times.ts';
import type { PlanPorts } from './plan.ts';
import { formatTag, resolveCandidate, toUse, type Hint } from './resolve-tag.ts';

/** Why a policy does not want a tag; undefined where it does. Costs no request. */
export function rejectHint(spec: PolicySpec, tag: string): Outcome | undefined {
  const why = spec.strategy.reject(tag);
  return why === undefined ? undefined : { kind: 'ignored', reason: 'NotSelected', message: why, tag };
}

/** The candidate of one reconcile, or its result where there is none; throws PermanentError where no tag of the repository can be selected. */
export async function chooseCandidate(
  policy: ImagePolicy,
  spec: PolicySpec,
  request: ChoiceRequest,
  ports: ChoosePorts & PlanPorts,
  signal: AbortSignal,
): Promise<Chosen | Outcome> {
  const { hint } = request;
  const rejection = hint === undefined ? undefined : rejectHint(spec, hint.tag);
  if (rejection !== undefined) return rejection;
  if (hint === undefined || mayGoBack(spec)) return chooseBest(policy, spec, request, ports, signal);
  return chooseHinted(policy, spec, { ...request, hint }, ports, signal);
}

/**
 * Chooses again, because the running images changed since the registry was asked. Names that have an order need no second choice. Digests have no order, and a
 * policy that may downgrade does not go by it: whoever changed the running images may have had a newer answer.
 */
export async function chooseAgain(
  chosen: Chosen,
  policy: ImagePolicy,
  ports: ChoosePorts & PlanPorts,
  signal: AbortSignal,
): Promise<Chosen> {
  const { spec, candidate } = chosen;
  if (mayGoBack(spec)) {
    const best = await chooseBest(policy, spec, { announced: false, chosenBefore: candidate.tag }, ports, signal);
    return 'kind' in best ? chosen : best;
  }
  // A candidate whose digest was not asked for may have been rejected meanwhile.
  const isAsked = candidate.digest !== undefined;
  if (isAsked && spec.pin !== 'Digest' && spec.strategy.knowing === undefined) return chosen;
  const source = ports.sourceOf(policy, spec);
  const found = await resolveCandidate(source, { tag: candidate.tag }, toUse(ports.headManifest), {
    announced: false,
    signal,
    now: ports.now,
  });
  const noImage = found?.digest === undefined ? undefined : await ports.whyNoImage(source, found.digest, signal);
  // The next reconcile finds that out for itself and chooses another image.
  if (noImage !== undefined) throw new Error(`${formatTag(source, candidate.tag)} was an image a moment ago: ${noImage}`);
  return found === undefined ? chosen : compareAnew({ ...chosen, candidate: found }, policy, ports, signal);
}

/** The candidate of a hint: it is only compared with what runs. */
async function chooseHinted(
  policy: ImagePolicy,
  spec: PolicySpec,
  request: ChoiceRequest & { readonly hint: Hint },
  ports: ChoosePorts & PlanPorts,
  signal: AbortSignal,
): Promise<Chosen | Outcome> {
  const { tag } = request.hint;
  const found = await examineTag(tag, { policy, spec, source: ports.sourceOf(policy, spec), request }, ports, signal);
  if ('reason' in found) return { kind: 'ignored', ...found, tag };
  const { note } = spec.strategy;
  const notes = note === undefined ? [] : [note];
  const chosen = await compareAnew({ candidate: found.candidate, isComplete: false, spec, notes }, policy, ports, signal);
  return rejectHint(chosen.spec, tag) ?? chosen;
}

/** Updates the choice with what its strategy must know to compare it with what runs. */
async function compareAnew(chosen: Chosen, policy: ImagePolicy, ports: ChoosePorts & PlanPorts, signal: AbortSignal): Promise<Chosen> {
  const { candidate, spec } = chosen;
  const { tag, digest } = candidate;
  const { knowing } = spec.strategy;
  if (knowing === undefined || digest === undefined) return chosen;
  const source = ports.sourceOf(policy, spec);
  const image = await ports.readImage(source, digest, signal);
  if (image === undefined) throw new Error(`the registry holds no image ${digest}, which it named a moment ago`);
  ports.tagMemory.set(source, tag, { created: image.created, isArtifact: image.noImage !== undefined, readAt: ports.now() });
  const timesRequest = { source, needed: [tag, ...neededTags(policy, spec, ports)], latest: policy.status.latest };
  const { created, notes } = await readSomeTimes(timesRequest, ports, signal);
  return { ...chosen, created, spec: { ...spec, strategy: knowing(created) }, notes };
}
