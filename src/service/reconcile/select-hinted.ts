import { artifactOf } from '../../core/model/artifact.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import type { Reconcile } from './attempt.ts';
import { completeSet } from './complete-set.ts';
import { readSomeTimes } from './creation-times.ts';
import { examineTag, neededTags } from './examine-tag.ts';
import type { Registry } from './ports.ts';
import { formatTag, resolveCandidate, type Hint } from './resolve-tag.ts';
import { selectBest } from './select-best.ts';
import { mayGoBack, rejectTag, type Selection } from './selection.ts';

/** Selects the image of a hint, which is compared only with what runs. */
export async function selectHinted(reconcile: Reconcile, { tag }: Hint, registry: Registry): Promise<Selection | Outcome> {
  const { policy, spec } = reconcile;
  const found = await examineTag(tag, { ...reconcile, source: registry.sourceOf(policy, spec) }, registry);
  if ('reason' in found) {
    // The only tag of a policy: without it nothing is left to select, as a poll would find as well.
    if (tag === spec.strategy.mutableTag && found.reason !== 'TagNotFound') throw new PermanentError(found.reason, found.message);
    return { kind: 'ignored', ...found, tag };
  }
  const { note } = spec.strategy;
  const notes = note === undefined ? [] : [note];
  const { candidate, set, overdue } = await completeSet(found.candidate, reconcile, registry);
  if (overdue !== undefined) return { kind: 'ignored', reason: 'CompanionMissing', message: overdue, tag };
  const sets = set === undefined ? {} : { sets: [set] };
  const selection = await compareAnew({ candidate, spec, basis: 'OneTag', ...sets, notes }, reconcile, registry);
  return rejectTag(selection.spec, tag) ?? selection;
}

/**
 * Selects again, because the running images changed since the registry was asked. Names that have an order need no second choice. Digests have no order, and a
 * policy that may downgrade ignores the order: another process may have changed the running images with a newer answer.
 */
export async function selectAgain(reconcile: Reconcile, selection: Selection, registry: Registry): Promise<Selection> {
  const { policy, spec, cluster, signal } = reconcile;
  const { candidate } = selection;
  if (mayGoBack(spec)) {
    const best = await selectBest({ ...reconcile, request: { announced: false, selectedBefore: candidate.tag } }, registry);
    return 'kind' in best ? selection : best;
  }
  // A candidate whose digest was not asked for may have been rejected since.
  const isAsked = candidate.digest !== undefined;
  if (isAsked && spec.pin !== 'Digest' && spec.strategy.withCreationTimes === undefined) return selection;
  const source = registry.sourceOf(policy, spec);
  const patience = { announced: false, signal, now: cluster.now };
  const found = await resolveCandidate(source, { tag: candidate.tag }, registry.resolveTag, patience);
  const unusable = found?.digest === undefined ? {} : await registry.whyUnusable(source, found.digest, signal);
  const other = unusable[artifactOf(spec)];
  // The next reconcile finds that it is an artifact of another kind, and selects another one.
  if (other !== undefined) throw new Error(`${formatTag(source, candidate.tag)} was of another kind a moment ago: ${other}`);
  if (found === undefined) return selection;
  const { candidate: whole } = await completeSet(found, reconcile, registry);
  return compareAnew({ ...selection, candidate: whole }, reconcile, registry);
}

/** Updates the selection with what its strategy must know to compare it with what runs. */
async function compareAnew(selection: Selection, reconcile: Reconcile, registry: Registry): Promise<Selection> {
  const { policy, cluster, signal } = reconcile;
  const { candidate, spec } = selection;
  const { tag, digest } = candidate;
  const { withCreationTimes } = spec.strategy;
  if (withCreationTimes === undefined || digest === undefined) return selection;
  const source = registry.sourceOf(policy, spec);
  const image = await registry.readImage(source, digest, signal);
  if (image === undefined) throw new Error(`the registry holds no image ${digest}, which it named a moment ago`);
  registry.tagMemory.set(source, tag, { created: image.created, unusable: image.unusable, readAt: cluster.now() });
  const needed = [tag, ...neededTags({ ...reconcile, spec })];
  const { created, notes } = await readSomeTimes(
    { source, artifact: artifactOf(spec), needed, latest: policy.status.latest, now: cluster.now, signal },
    registry,
  );
  return { ...selection, created, spec: { ...spec, strategy: withCreationTimes(created) }, notes };
}
