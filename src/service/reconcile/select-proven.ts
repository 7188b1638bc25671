/** Selects the image that the followed policies run. The registry of the follower's own repository must hold it: by its tag, or at least by its digest. */
import { defined } from '../../core/model/defined.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { Candidate } from '../../core/model/image-reference.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import { hasChanges } from '../../core/plan/plan-update.ts';
import { commonImage, followedBy } from '../../core/plan/proven.ts';
import type { Reconcile } from './attempt.ts';
import { findLack } from './examine-tag.ts';
import { planWith } from './plan.ts';
import type { Registry } from './ports.ts';
import { resolveCandidate } from './resolve-tag.ts';
import type { Selection } from './selection.ts';

type Proven = Candidate & { readonly digest: string };

/** Selects the image that all followed policies run; while they run none together, the one that was selected before. Whether it may be applied, a guard decides. */
export async function selectProven(reconcile: Reconcile, registry: Registry): Promise<Selection | Outcome> {
  const { policy, spec, cluster } = reconcile;
  const common = commonImage(followedBy(policy, spec, cluster));
  if ('message' in common) return selectedBefore(reconcile, common.message);
  const selection = { spec, basis: 'AllTags', notes: [] } as const;
  // An image that runs everywhere needs no registry.
  if (!hasChanges(planWith(policy, { ...selection, candidate: common }, cluster))) return { ...selection, candidate: common };
  const source = registry.sourceOf(policy, spec);
  const found = await findCopy(common, reconcile, source, registry);
  if (found === undefined) {
    const { tag, digest } = common;
    const message = `${formatRepository(source)} does not hold ${tag} (${digest}), which the followed policies run: copy it, with all its platforms`;
    return { kind: 'waiting', reason: 'NotCopied', message, tag, digest };
  }
  await refuseUnusable(found, reconcile, source, registry);
  return { ...selection, candidate: found };
}

/** The image that was selected before, which stays; without one, the policy waits. */
function selectedBefore({ policy: { status }, spec }: Reconcile, why: string): Selection | Outcome {
  const { latest } = status;
  if (latest?.digest === undefined) return { kind: 'waiting', reason: 'NotProven', message: `nothing is selected yet: ${why}` };
  const { tag, digest } = latest;
  return { candidate: { tag, digest }, spec, basis: 'AllTags', notes: [`nothing newer is proven: ${why}`] };
}

/** The image in the policy's repository: with its tag where that points to it, by its digest alone where it does not; undefined where it is missing. */
async function findCopy(
  { tag, digest }: Proven,
  { request: { hint, announced, announcedAt }, cluster, signal }: Reconcile,
  source: ImageSource,
  registry: Registry,
): Promise<Proven | undefined> {
  // A registry announces a copy before it shows it.
  if (announced && hint?.digest === digest)
    await resolveCandidate(source, hint, registry.resolveTag, { announced, ...defined({ announcedAt }), signal, now: cluster.now });
  const tagged = await registry.resolveTag(source, tag, signal);
  if (tagged?.digest === digest) return { tag, digest };
  const head = await registry.headManifest(source, digest, signal);
  return head?.digest === digest ? { tag, digest, isMoved: true } : undefined;
}

/** Throws a PermanentError for what is no image that can run, and for an image without the platforms that the policy asks for. */
async function refuseUnusable(
  { tag, digest }: Proven,
  { spec, signal }: Reconcile,
  source: ImageSource,
  registry: Registry,
): Promise<void> {
  const { Image: why } = await registry.whyUnusable(source, digest, signal);
  if (why !== undefined) throw new PermanentError('NotAnImage', `${tag} (${digest}) is no image that can run: ${why}`);
  const lack = await findLack(tag, digest, { spec, source, signal }, registry);
  if (lack !== undefined) throw new PermanentError('PlatformMissing', lack);
}
