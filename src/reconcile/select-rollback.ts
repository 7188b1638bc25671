import { strategies } from '../select/strategies/index.ts';
import { withRollback } from '../status/next-actions.ts';
import { rollbackGuards } from '../plan/guard-plan.ts';
import type { Outcome } from '../plan/outcome.ts';
import { leftImages, rollbackImage } from '../plan/rollback.ts';
import { formatRepository } from '../model/image-reference.ts';
import { parseRollback, releaseTime } from '../model/policy-actions.ts';
import type { Reconcile } from './attempt.ts';
import type { Policies, Registry } from './ports.ts';
import { formatTag } from './resolve-tag.ts';
import type { Selection } from './selection.ts';

/**
 * Selects the image that a user wants to roll back to (`plan/rollback.ts` finds it in the history). It replaces whatever runs, at once, whatever the policy
 * selects; with select.replace, only the tag that the policy has written. The image that is left is recorded before anything is changed: otherwise the reconcile after a crash could apply it again.
 */
export async function selectRollback(
  { policy, spec, cluster, signal }: Reconcile,
  wanted: string,
  { registry, policies }: { readonly registry: Registry; readonly policies: Policies },
): Promise<Selection | Outcome> {
  if (policy.actions?.rollbackTo !== wanted)
    return { kind: 'ignored', reason: 'Withdrawn', message: `the rollback to ${wanted} was taken back before it was its turn` };
  const name = parseRollback(wanted);
  if (name === undefined) return refuse(`"${wanted}" is neither a tag nor "previous"`);
  const { findWorkload, aliases } = cluster;
  const past = { spec, status: policy.status, findWorkload, aliases };
  const image = rollbackImage(past, name);
  if (image === undefined)
    return refuse(`the history of the policy holds no earlier image of ${formatRepository(spec.repository)} on its targets: name a tag`);
  const { tag } = image;
  const head = await registry.headManifest(registry.sourceOf(policy, spec), tag, signal);
  if (head === undefined) return refuse(`the registry holds no ${formatTag(spec.repository, tag)} any more`);
  // A pinned digest is what ran; a tag is resolved anew.
  const candidate = { tag, digest: spec.pin === 'Digest' ? (image.digest ?? head.digest) : head.digest };
  const left = leftImages(past, candidate);
  const { mutableTag, replaces } = spec.strategy;
  const written = replaces === undefined ? undefined : mutableTag;
  // It may have been asked before it selected anything, and must not begin after the rollback.
  if (written !== undefined && left.length === 0 && written !== tag) {
    const selected = await registry.headManifest(registry.sourceOf(policy, spec), written, signal);
    if (selected !== undefined) left.push({ tag: written, digest: selected.digest });
  }
  const when = { now: new Date(cluster.now()), released: releaseTime(policy.actions) };
  await policies.writeStatus(policy, (status) => withRollback(status, left, when), signal);
  // What such a policy has not written is not its own: somebody may have updated it meanwhile.
  const strategy = written === undefined ? strategies.digest({ tag }) : strategies.replace({ from: written, to: tag });
  const comparison = { strategy, allowDowngrade: true };
  const { minAgeMs: _, ...atOnce } = spec;
  return { candidate, spec: atOnce, basis: 'UserRequest', rules: { comparison, isFirst: true, guards: rollbackGuards }, notes: [] };
}

function refuse(why: string): Outcome {
  return { kind: 'unchanged', reason: 'NoEarlierImage', message: `nothing was rolled back: ${why}` };
}
