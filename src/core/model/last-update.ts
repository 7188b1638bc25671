/**
 * The record of our last change to a container. It is in an annotation of the workload, written by the same request as the image. So the applied image, its
 * time, and the former image are known for any number of workloads, and after a crash. Each container has its own annotation, because two policies may change
 * two containers of a workload at the same moment. Each policy that writes it keeps the changes of the others within the hour, so that changes that undo each
 * other are counted.
 */
import { defined } from './defined.ts';
import { tryParseImageReference } from './image-reference.ts';
import { type TriggerSource } from './policy-status.ts';
import { maxCompanionContainers } from './companion-status.ts';
import { cut, toTime } from './text.ts';
import { type ContainerChange, findContainer, type Workload, type WorkloadContainer } from './workload.ts';

export interface LastUpdate {
  /** The uid of the policy. */
  readonly policy: string;
  /** The time of the change. It is later than that of any earlier change to the container, even if the clocks of replicas differ. */
  readonly at: string;
  readonly trigger: TriggerSource;
  readonly from: string;
  /** The image that was written. Admission may have rewritten it. */
  readonly to: string;
  /** The selected tag, if the image does not contain it: for fields with a digest alone. */
  readonly tag?: string;
  /** The digest that the tag pointed to. */
  readonly digest?: string;
  /** The digest of the set, if companions belong to the image. */
  readonly setDigest?: string;
  /** The companions that were changed with the image. */
  readonly alongside?: readonly PastCompanion[];
  /** The digest whose rollout failed, or that of the set; only in the record of a rollback. */
  readonly failed?: string;
  /** The digest, or that of the set, that a requested rollback left, also where the container ran another one; only in the record of such a rollback. */
  readonly left?: string;
  /** The failed rollouts that are not caused by the image. After a rollback the image is tried again, and each try keeps this record. */
  readonly retry?: Retry;
  /** The images that any policy changed the container to within the preceding hour. */
  readonly earlier?: readonly RecentChange[];
  /** The push that caused the change; absent for other causes. */
  readonly event?: string;
  /** The changes within the preceding hour, the latest first. A process that made one may have died before it wrote the status, or reported the push. */
  readonly before?: readonly PastChange[];
}

/** A change that was followed by another one. */
export type PastChange = Pick<
  LastUpdate,
  'policy' | 'at' | 'trigger' | 'from' | 'to' | 'tag' | 'digest' | 'setDigest' | 'alongside' | 'event'
>;

/** The change of a companion. */
export interface PastCompanion {
  readonly container: string;
  readonly from: string;
  readonly to: string;
}

/** Rollouts of one image that failed for another reason than the image. */
export interface Retry {
  /** How many rollouts of the image have failed in a row. */
  readonly failures: number;
  /** The generation of the policy. An edited policy starts to count again. */
  readonly generation: number;
  /** Why the last rollout of the image failed. */
  readonly why: string;
}

/** An image that a container was changed to, and the times of the changes, the latest first. */
export interface RecentChange {
  readonly tag: string;
  readonly digest?: string;
  readonly at: readonly string[];
}

/** How long a change counts towards a loop. */
export const recentMs = 3_600_000;

/** The maximum difference between clocks of replicas. A time further in the future was not written by us. */
const maxSkewMs = 300_000;
/** Limits of the annotation, which do not depend on the number of policies or of other writers of the workload. */
export const limits = {
  maxImages: 8,
  maxTimes: 10,
  maxImageLength: 512,
  maxBefore: 6,
  maxWhyLength: 300,
  maxAlongside: maxCompanionContainers,
} as const;

/** The record of our last change to a container, or to fields that are shown as one, from the workload's annotation. */
export function lastUpdateOf(workload: Workload, container: string): LastUpdate | undefined {
  return findContainer(workload, container)?.lastUpdate ?? workload.fieldUpdates?.get(container);
}

/** The policy, the time and the trigger of changes to containers. */
interface UpdateCause extends Pick<LastUpdate, 'policy' | 'trigger' | 'tag'> {
  readonly at: Date;
  readonly digest?: string | undefined;
  readonly setDigest?: string | undefined;
  readonly failed?: string | undefined;
  readonly left?: string | undefined;
  readonly event?: string | undefined;
  readonly retry?: ((container: string) => Retry | undefined) | undefined;
}

/** Adds to each change the record to write to the annotation; none if an image is too long. */
export function withUpdates(
  workload: Workload,
  changes: readonly ContainerChange[],
  { policy, trigger, at, tag, digest, setDigest, failed, left, retry, event }: UpdateCause,
): ContainerChange[] {
  return changes.map((change) => {
    const { container, from, to, alongside = [] } = change;
    if (Math.max(from.length, to.length) > limits.maxImageLength) return change;
    const last = lastUpdateOf(workload, container);
    const earlier = recentChanges(last, at);
    const before = pastChanges(last)
      .filter((one) => isRecent(one.at, at))
      .slice(0, limits.maxBefore)
      // An annotation has room for the companions of one change only.
      .map(withoutCompanions);
    const isHidden = tag !== undefined && tryParseImageReference(to)?.tag === undefined;
    const image = {
      from,
      to,
      ...(isHidden && { tag }),
      ...defined({ digest, setDigest, failed, left }),
      ...(alongside.length > 0 && { alongside: alongside.map(({ container, from, to }) => ({ container, from, to })) }),
    };
    const tries = retry?.(container);
    const { failures = 0, generation = 0, why = '' } = tries ?? {};
    const others = {
      ...(tries && { retry: { failures, generation, why: cut(why, limits.maxWhyLength) } }),
      ...(earlier.length > 0 && { earlier }),
      ...defined({ event }),
      ...(before.length > 0 && { before }),
    };
    return { ...change, update: { policy, at: toTime(timeAfter(last?.at, at)), trigger, ...image, ...others } };
  });
}

function withoutCompanions(change: PastChange): PastChange {
  const { alongside: _, ...others } = change;
  return others;
}

/** The time of a change that follows another one: later than that, even if the clocks of replicas differ. */
export function timeAfter(last: string | undefined, now: Date): Date {
  const before = Date.parse(last ?? '');
  // A time further ahead was not written by us, and must not influence ours.
  return before >= now.getTime() && before - now.getTime() <= maxSkewMs ? new Date(before + 1) : now;
}

/** The tag that a container was changed to; empty if there was none. */
export function updatedTag({ to, tag }: LastUpdate): string {
  return tryParseImageReference(to)?.tag ?? tag ?? '';
}

/** The images that a container was changed to according to its record, the last one first. */
export function changesOf(last: LastUpdate | undefined): readonly RecentChange[] {
  if (last === undefined) return [];
  const { digest, at, earlier = [] } = last;
  const tag = updatedTag(last);
  const before = earlier.find((one) => one.tag === tag && one.digest === digest);
  const latest = { tag, ...defined({ digest }), at: [at, ...(before?.at ?? [])] };
  return [latest, ...earlier.filter((one) => one !== before)];
}

/** The changes to a container, the last one first, as far as its record contains them. */
export function pastChanges(last: LastUpdate | undefined): readonly PastChange[] {
  if (last === undefined) return [];
  const { policy, at, trigger, from, to, tag, digest, setDigest, alongside, event, before = [] } = last;
  const image = { from, to, ...defined({ tag, digest, setDigest, alongside }) };
  return [{ policy, at, trigger, ...image, ...defined({ event }) }, ...before];
}

/** Whether a time is so far ahead that no replica wrote it. */
export function isImpossible(time: string, now: Date): boolean {
  return Date.parse(time) - now.getTime() > maxSkewMs;
}

/** Whether a change at a time is recent enough to count towards a loop of changes. */
export function isRecent(time: string, now: Date): boolean {
  const age = now.getTime() - Date.parse(time);
  return age < recentMs && !isImpossible(time, now);
}

/** The changes to a container within the hour before `now`. The most frequent images come first, because a loop repeats images. */
export function recentChanges(last: LastUpdate | undefined, now: Date): RecentChange[] {
  return changesOf(last)
    .map((one) => ({ ...one, at: one.at.filter((time) => isRecent(time, now)).slice(0, limits.maxTimes) }))
    .filter((one) => one.tag !== '' && one.at.length > 0)
    .toSorted((a, b) => b.at.length - a.at.length)
    .slice(0, limits.maxImages);
}

/** The policy's last change to a container, if it still holds. */
export function ownUpdate(container: WorkloadContainer, policy: string): LastUpdate | undefined {
  return container.lastUpdate?.policy === policy ? heldUpdate(container) : undefined;
}

/**
 * The last change to a container, while the image that we wrote still runs. Undefined if it does not, or if the previous image has another name: the annotation
 * must not be a way to make us run something else.
 */
export function heldUpdate(container: WorkloadContainer): LastUpdate | undefined {
  if (container.lastUpdate === undefined) return undefined;
  const known = evaluated.get(container);
  if (known !== undefined) return known.held;
  const held = evaluate(container);
  evaluated.set(container, { held });
  return held;
}

/** Cached, because hundreds of workloads are evaluated whenever one of them changes. */
const evaluated = new WeakMap<WorkloadContainer, { readonly held: LastUpdate | undefined }>();

function evaluate({ image, imageOwner, lastUpdate }: WorkloadContainer): LastUpdate | undefined {
  if (lastUpdate === undefined || imageOwner !== fieldManager) return undefined;
  const [runs, to, from] = [image, lastUpdate.to, lastUpdate.from].map((text) => tryParseImageReference(text));
  // Admission may write the name in full, or with another host of the registry.
  if (runs === undefined || to === undefined || from?.name !== to.name || runs.repository.path !== to.repository.path) return undefined;
  const digest = to.digest ?? (runs.tag === undefined ? lastUpdate.digest : undefined);
  const isSame = runs.digest !== undefined && digest !== undefined ? runs.digest === digest : runs.tag === to.tag;
  return isSame ? lastUpdate : undefined;
}

/** The name under which the API server records our changes; it distinguishes them from manual ones. */
export const fieldManager = 'image-watcher';
