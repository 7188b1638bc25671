import { digestOfSet, type Companion } from '../../core/model/companions.ts';
import { completeSet } from './complete-set.ts';
import { strategies } from '../../core/select/strategies/index.ts';
import { withRollback, type Digested } from '../../core/status/next-actions.ts';
import { rollbackGuards } from '../../core/plan/guard-plan.ts';
import { defined } from '../../core/model/defined.ts';
import { outcomeOf, type Outcome } from '../../core/plan/outcome.ts';
import type { UpdatePlan } from '../../core/plan/plan-update.ts';
import { pastCompanions, setBefore, type PastCompanion } from '../../core/plan/past-companions.ts';
import { leftImages, rollbackImage } from '../../core/plan/rollback.ts';
import type { PolicyStatus } from '../../core/model/policy-status.ts';
import { formatRepository, type Candidate, type Repository } from '../../core/model/image-reference.ts';
import { parseRollback, releaseTime } from '../../core/model/policy-actions.ts';
import { isSameJson } from '../../core/model/untyped.ts';
import type { Reconcile } from './attempt.ts';
import { planWith } from './plan.ts';
import type { Ports, Registry } from './ports.ts';
import { formatTag } from './resolve-tag.ts';
import type { Selection } from './selection.ts';

/**
 * Selects the image that a user wants to roll back to (`plan/rollback.ts` finds it in the history). It replaces any running image without a wait, whatever the
 * policy selects; with select.replace, it replaces only the tag that the policy has written. The image that is left is recorded before anything is changed:
 * otherwise the reconcile after a crash could apply it again.
 */
export async function selectRollback(
  reconcile: Reconcile,
  wanted: string,
  ports: Pick<Ports, 'registry' | 'policies'>,
): Promise<Selection | Outcome> {
  const { registry, policies } = ports;
  const { policy, spec, cluster, signal } = reconcile;
  const name = parseRollback(wanted);
  if (name === undefined) return refuse(`"${wanted}" is neither a tag nor "previous"`);
  const { uid, namespace, status } = policy;
  const { findWorkload, listWorkloads, aliases } = cluster;
  const past = { spec, uid, namespace, status, findWorkload, listWorkloads, aliases };
  const begunBefore = status.rollback?.request === wanted ? status.rollback : undefined;
  const before = begunBefore === undefined && name === 'previous' ? setBefore(past) : undefined;
  const image = begunBefore ?? before ?? rollbackImage(past, name);
  if (image === undefined)
    return refuse(`the history of the policy holds no earlier image of ${formatRepository(spec.repository)} on its targets: name a tag`);
  const { tag } = image;
  const head = await registry.headManifest(registry.sourceOf(policy, spec), tag, signal);
  if (head === undefined) return refuse(`the registry holds no ${formatTag(spec.repository, tag)} any more`);
  // A pinned digest is what ran before. A tag is resolved anew.
  const own = { tag, digest: spec.pin === 'Digest' ? (image.digest ?? head.digest) : head.digest };
  const candidate =
    begunBefore?.companions === undefined
      ? await withPastCompanions(own, before?.companions, { reconcile, registry })
      : withSet(own, begunBefore.companions, spec.repository);
  if (candidate.missing !== undefined) return refuse(`the registry does not hold ${candidate.missing.images.join(' and ')} any more`);
  const images = leftImages(past, candidate);
  const { mutableTag, replaces } = spec.strategy;
  const written = replaces === undefined ? undefined : mutableTag;
  // If the rollback was requested before the policy selected anything, the tag that it writes is left, so that the policy does not begin after the rollback.
  if (written !== undefined && images.length === 0 && written !== tag) images.push({ tag: written });
  const left = await withDigests(images, candidate, (unknown) => registry.headManifest(registry.sourceOf(policy, spec), unknown, signal));
  const when = { now: new Date(cluster.now()), released: releaseTime(policy.actions) };
  const { companions } = candidate;
  const rollback = { request: wanted, ...own, ...defined({ companions: companions?.map((one) => ({ ...one })) }) };
  // A policy with select.replace owns only the tag that it has written. Another image may have been set by somebody since.
  const strategy = written === undefined ? strategies.digest({ tag }) : strategies.replace({ from: written, to: tag });
  const comparison = { strategy, allowDowngrade: true };
  const { minAgeMs: _, ...atOnce } = spec;
  const [newest] = left;
  const rules = { comparison, isFirst: true, guards: rollbackGuards, ...(newest && { left: newest.setDigest ?? newest.digest }) };
  const selection: Selection = { candidate, spec: atOnce, basis: 'UserRequest', rules, notes: [] };
  // The policy of a replaced tag may be kept from its first change like this.
  const idle = begunBefore === undefined && replaces === undefined ? whyNothingChanges(selection, reconcile) : undefined;
  if (idle !== undefined) return refuse(idle);
  let found = status;
  const begin = (now: PolicyStatus) => {
    found = now;
    return isBegun(now, rollback) || now.lastHandledRollback === wanted ? undefined : withRollback(now, { rollback, left }, when);
  };
  await policies.writeStatus(policy, begin, signal);
  if (found.lastHandledRollback === wanted)
    return { kind: 'ignored', reason: 'Withdrawn', message: `the rollback to ${wanted} was carried out already` };
  if (isBegun(found, rollback)) return selectRollback({ ...reconcile, policy: { ...policy, status: found } }, wanted, ports);
  return selection;
}

/** Why the rollback would change nothing, such as that everything runs the image already; undefined if it changes something. It then leaves no image, and what is known of the rejected ones stays. */
function whyNothingChanges(selection: Selection, { policy, cluster }: Reconcile): string | undefined {
  const plan = planWith(policy, selection, cluster);
  if (changesAny(plan)) return undefined;
  const { reason, message } = outcomeOf(plan, [], { uid: policy.uid, isSelection: false });
  return reason === 'UpToDate' ? `all targets run ${selection.candidate.tag} already` : message;
}

/** Whether the plan changes a target. Changes that guards block, as in a dry run, are none. */
function changesAny({ targets }: UpdatePlan): boolean {
  return targets.some(({ changes }) => changes.length > 0);
}

/** The image with the companions that were changed together with it or, if the history does not know them, with those that belong to it now. */
async function withPastCompanions(
  candidate: Required<Pick<Candidate, 'tag' | 'digest'>>,
  known: readonly PastCompanion[] | undefined,
  { reconcile, registry }: { readonly reconcile: Reconcile; readonly registry: Registry },
): Promise<Candidate> {
  const { policy, spec, cluster, signal } = reconcile;
  const past = known ?? pastCompanions(candidate, { spec, history: policy.status.history ?? [], aliases: cluster.aliases });
  if (past === undefined) return (await completeSet(candidate, reconcile, registry)).candidate;
  const companions: Companion[] = [];
  for (const { repository, tag, digest } of past) {
    const head = await registry.headManifest(registry.sourceOf(policy, { ...spec, repository }), tag, signal);
    if (head === undefined) return (await completeSet(candidate, reconcile, registry)).candidate;
    // As for the own image, a pinned digest is what ran before.
    companions.push({ image: formatRepository(repository), tag, digest: spec.pin === 'Digest' ? (digest ?? head.digest) : head.digest });
  }
  return withSet(candidate, companions, spec.repository);
}

function withSet(
  candidate: Required<Pick<Candidate, 'tag' | 'digest'>>,
  companions: readonly Companion[],
  repository: Repository,
): Candidate {
  return { ...candidate, companions, setDigest: digestOfSet(repository, candidate.digest, companions) };
}

/** Whether another process has begun the same rollback, to another image. */
function isBegun({ rollback: begun }: PolicyStatus, rollback: NonNullable<PolicyStatus['rollback']>): boolean {
  if (begun?.request !== rollback.request) return false;
  const { companions } = begun;
  const isOtherSet = companions !== undefined && !isSameJson(companions, rollback.companions);
  return begun.tag !== rollback.tag || begun.digest !== rollback.digest || isOtherSet;
}

/** The images with the digests that their tags have now, if they are not known. The candidate itself, and images that no longer exist, are left out. */
async function withDigests(
  images: readonly Candidate[],
  candidate: Candidate,
  resolve: (tag: string) => Promise<Pick<Required<Candidate>, 'digest'> | undefined>,
): Promise<Digested[]> {
  const found: Digested[] = [];
  for (const { tag, digest: known, setDigest } of images) {
    const digest = known ?? (await resolve(tag))?.digest;
    // An earlier change to the image that is brought back counts only if its set was another one.
    const isLeft = digest !== candidate.digest || (setDigest !== undefined && setDigest !== candidate.setDigest);
    if (digest !== undefined && isLeft) found.push({ tag, digest, ...defined({ setDigest }) });
  }
  return found;
}

function refuse(why: string): Outcome {
  return { kind: 'unchanged', reason: 'NoEarlierImage', message: `nothing was rolled back: ${why}` };
}
