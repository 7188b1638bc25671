import { defined } from '../model/defined.ts';
import { isUsable, type ImagePolicy, type PolicySpec } from '../model/image-policy.ts';
import {
  sameRepository,
  tryParseImageReference,
  type ImageReference,
  type RegistryAliases,
  type Candidate,
} from '../model/image-reference.ts';
import type { HistoryEntry, PolicyStatus } from '../model/policy-status.ts';
import { heldUpdate, updatedTag } from '../model/last-update.ts';
import { matchesTarget, resolveTargets, type WorkloadView } from '../model/resolve-target.ts';
import { findContainer, imagesOf as runningOn } from '../model/workload.ts';
import { isNewerImage } from '../select/select-tag.ts';
import { allChanges, changesTo, isKnownDigest } from './past.ts';
import { isRejectionOf } from './rejections.ts';

/** A policy, with the workloads that it may see and the aliases of registries. */
export interface Past extends WorkloadView, Pick<ImagePolicy, 'uid' | 'namespace' | 'status'> {
  readonly spec: Pick<PolicySpec, 'repository' | 'alongside' | 'targets' | 'strategy'>;
  readonly aliases: RegistryAliases;
}

/**
 * The image for `previous` or a tag, according to the past: `previous` is the latest image that ran before the last applied one and has not been rolled back
 * from or failed since. A tag that never ran is used as it is. Undefined if no image ran before.
 */
export function rollbackImage(past: Past, wanted: string): Candidate | undefined {
  const known = imagesOf(past);
  if (wanted !== 'previous') return known.find(({ tag }) => tag === wanted) ?? { tag: wanted };
  const [current, ...earlier] = known;
  if (current === undefined) return undefined;
  // A user who requests `previous` again after a rollback wants an older image, not a newer one.
  const [last] = changesOf(past);
  const isPassed = (image: Candidate) => last?.trigger === 'Rollback' && isClearlyNewer(image, current, past);
  return [...replacedBy(current, past), ...earlier].find(
    (image) => !isSame(image, current) && !isLeft(image, past.status) && !isPassed(image),
  );
}

/** Whether the strategy orders two images, and the first is the newer one. */
function isClearlyNewer(image: Candidate, than: Candidate, { spec }: Past): boolean {
  return isNewerImage(image, than, spec) && !isNewerImage(than, image, spec);
}

/** The rollback that a user requested and that was not answered yet. It has precedence over everything else that the policy does. */
export function openRollback({ spec, status, actions }: Pick<ImagePolicy, 'spec' | 'status' | 'actions'>): string | undefined {
  const wanted = actions?.rollbackTo;
  return isUsable(spec) && !spec.suspended && wanted !== status.lastHandledRollback ? wanted : undefined;
}

/**
 * The images that a rollback leaves, with their digests if known: the last applied one, the selected one, and any that this policy, or another one of the same
 * containers, has applied to a target and that is newer than the image to bring back.
 */
export function leftImages(past: Past, candidate: Candidate): Candidate[] {
  const [current] = imagesOf(past);
  const newer = appliedImages(past).filter((image) => isNewerImage(image, candidate, past.spec));
  const left = [current, past.status.latest, ...newer].flatMap((image) =>
    image === undefined || isSameSet(image, candidate) ? [] : [toLeft(image)],
  );
  return left.filter((image, index) => left.findIndex((other) => isSameSet(other, image)) === index);
}

/** Only a digest is known to belong to a set: a tag may have been moved since. */
function toLeft({ tag, digest, setDigest }: Candidate): Candidate {
  return digest === undefined ? { tag } : { tag, digest, ...defined({ setDigest }) };
}

/** The images of the targets that a policy applied. */
function appliedImages(past: Past): Candidate[] {
  return resolveTargets(past.spec.targets, past).flatMap((workload) =>
    runningOn(workload).flatMap(({ container }) => {
      const [update, runs] = [heldUpdate(container), readImage(container.image, past)];
      if (update === undefined || runs === undefined) return [];
      const digest = runs.digest ?? (isKnownDigest(update.digest, container.image, past.status) ? update.digest : undefined);
      return [{ tag: updatedTag(update), ...defined({ digest }) }];
    }),
  );
}

/**
 * The images that ran on the targets before they were changed to an image. The most frequent comes first, because somebody may have set another image on a few
 * targets; of equally frequent ones, the newest.
 */
function replacedBy(image: Candidate, past: Past): Candidate[] {
  const { spec, status } = past;
  const ran = ranBefore(past);
  const replaced = resolveTargets(spec.targets, past).flatMap((workload) =>
    runningOn(workload).flatMap(({ container }) => {
      const [last] = changesTo(past, workload, container.name);
      if (last?.from === undefined || !isSame(last, image) || !isBelieved(last, past, ran)) return [];
      return beforeImage(last.from, status.history ?? [], past) ?? [];
    }),
  );
  const alike = Map.groupBy(replaced, ({ tag, digest = '' }) => `${tag} ${digest}`);
  const images = [...alike.values()].flatMap((some) => some.slice(0, 1).map((one) => ({ one, count: some.length })));
  const order = (a: Candidate, b: Candidate) => Number(isClearlyNewer(b, a, past)) - Number(isClearlyNewer(a, b, past));
  return images.toSorted((a, b) => b.count - a.count || order(a.one, b.one)).map(({ one }) => one);
}

/** Every image of the policy's repository that ran on its targets, the latest first; other changes are ignored. */
function imagesOf(past: Past): Candidate[] {
  const changes = ownChanges(past);
  return changes.flatMap((change, index) => {
    const { tag, digest, setDigest } = change;
    const before = change.from === undefined ? undefined : beforeImage(change.from, changes.slice(index + 1), past);
    return [{ tag, ...defined({ digest, setDigest }) }, ...(before === undefined ? [] : [before])];
  });
}

/** The changes of the targets to images of the policy's repository, the latest first. */
export function ownChanges(past: Past): HistoryEntry[] {
  const { spec, findWorkload } = past;
  return changesOf(past).filter((change) => {
    const { labels } = findWorkload(change) ?? {};
    return (
      readImage(change.to, past) !== undefined &&
      spec.targets.some((target) => matchesTarget(target, { ...change, ...defined({ labels }) }))
    );
  });
}

/**
 * The changes of the history, and those that records add where they can be confirmed. Owners of another namespace must not choose the image to which all
 * targets are rolled back, and a digest that only an annotation names must not be withheld from the targets.
 */
function changesOf(past: Past): HistoryEntry[] {
  const { status, spec, findWorkload } = past;
  const { history = [], latest, rejected = [] } = status;
  const ran = ranBefore(past);
  return allChanges(past, resolveTargets(spec.targets, past)).flatMap((change) => {
    if (history.includes(change)) return [change];
    if (!isBelieved(change, past, ran)) return [];
    const workload = findWorkload(change);
    const runs = readImage((workload && findContainer(workload, change.container)?.image) ?? '', past);
    const isKnown = [runs, latest, ...history, ...rejected].some((image) => image?.digest === change.digest);
    const { digest, setDigest: _, ...others } = change;
    return [isKnown ? { ...others, ...defined({ digest }) } : others];
  });
}

/** The images that ran according to the history. */
function ranBefore({ status: { history = [] } }: Past): ReadonlySet<string | undefined> {
  return new Set(history.flatMap(({ from, to }) => [from, to]));
}

function isBelieved(change: HistoryEntry, { namespace, status }: Past, ran: ReadonlySet<string | undefined>): boolean {
  return change.namespace === namespace || status.history?.includes(change) === true || ran.has(change.from);
}

function beforeImage(from: string, older: readonly HistoryEntry[], past: Past): Candidate | undefined {
  const { tag, digest } = readImage(from, past) ?? {};
  if (tag === undefined) return undefined;
  const known = digest ?? older.find((entry) => entry.tag === tag)?.digest;
  return { tag, ...defined({ digest: known }) };
}

function readImage(text: string, { spec, aliases }: Past): ImageReference | undefined {
  const image = tryParseImageReference(text, aliases);
  return image !== undefined && sameRepository(image.repository, spec.repository) ? image : undefined;
}

function isSame(a: Candidate, b: Candidate): boolean {
  if (a.digest !== undefined && b.digest !== undefined) return a.digest === b.digest;
  return a.tag === b.tag;
}

/** Whether two images are the same with the same companions, as far as these are known. */
function isSameSet(a: Candidate, b: Candidate): boolean {
  return isSame(a, b) && (a.setDigest === undefined || b.setDigest === undefined || a.setDigest === b.setDigest);
}

/** Whether an image is rejected; where its set is not known, whether a set with it is. */
function isLeft(image: Candidate, { rejected = [] }: PolicyStatus): boolean {
  return rejected.some((one) => {
    if (image.digest === undefined) return one.tag === image.tag;
    return image.setDigest === undefined ? one.digest === image.digest : isRejectionOf(one, image);
  });
}
