import type { Outcome } from '../plan/outcome.ts';
import type { Reconcile } from './attempt.ts';
import { readSomeTimes } from './creation-times.ts';
import { examineTag, neededTags, type RegistryPorts } from './examine-tag.ts';
import { formatTag, resolveCandidate, toUse, type Hint } from './resolve-tag.ts';
import { selectBest } from './select-best.ts';
import { mayGoBack, rejectTag, type Selection } from './selection.ts';

/** The image of a hint: it is only compared with what runs. */
export async function selectHinted(reconcile: Reconcile, { tag }: Hint, ports: RegistryPorts): Promise<Selection | Outcome> {
  const { policy, spec } = reconcile;
  const found = await examineTag(tag, { ...reconcile, source: ports.sourceOf(policy, spec) }, ports);
  if ('reason' in found) return { kind: 'ignored', ...found, tag };
  const { note } = spec.strategy;
  const notes = note === undefined ? [] : [note];
  const selection = await compareAnew({ candidate: found.candidate, spec, basis: 'OneTag', notes }, reconcile, ports);
  return rejectTag(selection.spec, tag) ?? selection;
}

/**
 * Selects again, because the running images changed since the registry was asked. Names that have an order need no second choice. Digests have no order, and a
 * policy that may downgrade does not go by it: whoever changed the running images may have had a newer answer.
 */
export async function selectAgain(reconcile: Reconcile, selection: Selection, ports: RegistryPorts): Promise<Selection> {
  const { policy, spec, cluster, signal } = reconcile;
  const { candidate } = selection;
  if (mayGoBack(spec)) {
    const best = await selectBest({ ...reconcile, request: { announced: false, selectedBefore: candidate.tag } }, ports);
    return 'kind' in best ? selection : best;
  }
  // A candidate whose digest was not asked for may have been rejected meanwhile.
  const isAsked = candidate.digest !== undefined;
  if (isAsked && spec.pin !== 'Digest' && spec.strategy.knowing === undefined) return selection;
  const source = ports.sourceOf(policy, spec);
  const patience = { announced: false, signal, now: cluster.now };
  const found = await resolveCandidate(source, { tag: candidate.tag }, toUse(ports.headManifest), patience);
  const noImage = found?.digest === undefined ? undefined : await ports.whyNoImage(source, found.digest, signal);
  // The next reconcile finds that out for itself and selects another image.
  if (noImage !== undefined) throw new Error(`${formatTag(source, candidate.tag)} was an image a moment ago: ${noImage}`);
  return found === undefined ? selection : compareAnew({ ...selection, candidate: found }, reconcile, ports);
}

/** Updates the selection with what its strategy must know to compare it with what runs. */
async function compareAnew(selection: Selection, reconcile: Reconcile, ports: RegistryPorts): Promise<Selection> {
  const { policy, cluster, signal } = reconcile;
  const { candidate, spec } = selection;
  const { tag, digest } = candidate;
  const { knowing } = spec.strategy;
  if (knowing === undefined || digest === undefined) return selection;
  const source = ports.sourceOf(policy, spec);
  const image = await ports.readImage(source, digest, signal);
  if (image === undefined) throw new Error(`the registry holds no image ${digest}, which it named a moment ago`);
  ports.tagMemory.set(source, tag, { created: image.created, isArtifact: image.noImage !== undefined, readAt: cluster.now() });
  const needed = [tag, ...neededTags({ ...reconcile, spec })];
  const { created, notes } = await readSomeTimes({ source, needed, latest: policy.status.latest, now: cluster.now, signal }, ports);
  return { ...selection, created, spec: { ...spec, strategy: knowing(created) }, notes };
}
