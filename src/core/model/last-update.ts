/**
 * Our last change to a container, as its workload records it: one annotation for each container, written by the same request as the image. So which image
 * we applied, when, and what ran before are known for any number of workloads, and after a crash. There is one annotation for each container, because two policies
 * may change two containers of a workload at the same moment; each policy that writes it keeps the changes of the others within the hour, so that changes that
 * undo each other are counted where they happen.
 */
import { tryParseImageReference } from './image-reference.ts';
import { type TriggerSource } from './policy-status.ts';
import { cut, toTime } from './text.ts';
import { type ContainerChange, findContainer, type Workload, type WorkloadContainer } from './workload.ts';

export interface LastUpdate {
  /** The uid of the policy. */
  readonly policy: string;
  /** Later than that of any change to the container before, whatever the clocks of replicas say. */
  readonly at: string;
  readonly trigger: TriggerSource;
  readonly from: string;
  /** The image that was written; admission may have rewritten it. */
  readonly to: string;
  /** The selected tag, if the image does not show it: for fields that hold a digest alone. */
  readonly tag?: string;
  /** The digest that the tag pointed to. */
  readonly digest?: string;
  /** Of a rollback: the digest whose rollout failed. */
  readonly failed?: string;
  /** Of a rollback that a user asked for: the digest that it left, also where the container ran another one. */
  readonly left?: string;
  /** The failed rollouts for which the image is not to blame: after a rollback it is tried again, and each try keeps what it follows. */
  readonly retry?: Retry;
  /** The images that any policy changed the container to within the preceding hour. */
  readonly earlier?: readonly RecentChange[];
  /** The push that caused it; absent for other causes, and in records of earlier versions. */
  readonly event?: string;
  /** The changes within the preceding hour, the latest first: whoever made one may have died before its status was written, or its push was reported. */
  readonly before?: readonly PastChange[];
}

/** A change that was followed by another one. */
export type PastChange = Pick<LastUpdate, 'policy' | 'at' | 'trigger' | 'from' | 'to' | 'tag' | 'digest' | 'event'>;

/** Rollouts of one image that failed for another reason than the image. */
export interface Retry {
  /** How many of them there were, one after the other. */
  readonly failures: number;
  /** The generation of the policy: an edited policy begins anew. */
  readonly generation: number;
  /** Why the last one failed. */
  readonly why: string;
}

/** An image that a container was changed to, and the times of the changes: the latest first. */
export interface RecentChange {
  readonly tag: string;
  readonly digest?: string;
  readonly at: readonly string[];
}

/** How long a change counts towards a loop. */
export const recentMs = 3_600_000;

/** The clocks of replicas differ by less; a time further in the future was not written by us. */
const maxSkewMs = 300_000;
/** Limits of the annotation, independent of the number of policies, and of other writers of the workload. */
export const limits = { maxImages: 8, maxTimes: 10, maxImageLength: 512, maxBefore: 6, maxWhyLength: 300 } as const;

/** The record of our last change to a container, or to fields that are shown as one, from the workload's annotation. */
export function lastUpdateOf(workload: Workload, container: string): LastUpdate | undefined {
  return findContainer(workload, container)?.lastUpdate ?? workload.fieldUpdates?.get(container);
}

/** Who changes containers, when and why. */
interface UpdateCause extends Pick<LastUpdate, 'policy' | 'trigger' | 'tag'> {
  readonly at: Date;
  readonly digest?: string | undefined;
  readonly failed?: string | undefined;
  readonly left?: string | undefined;
  readonly event?: string | undefined;
  readonly retry?: ((container: string) => Retry | undefined) | undefined;
}

/** Adds to each change the record to write to the annotation; none if an image is too long. */
export function withUpdates(
  workload: Workload,
  changes: readonly ContainerChange[],
  { policy, trigger, at, tag, digest, failed, left, retry, event }: UpdateCause,
): ContainerChange[] {
  return changes.map((change) => {
    const { container, from, to } = change;
    if (Math.max(from.length, to.length) > limits.maxImageLength) return change;
    const last = lastUpdateOf(workload, container);
    const earlier = recentChanges(last, at);
    const before = pastChanges(last)
      .filter((one) => isRecent(one.at, at))
      .slice(0, limits.maxBefore);
    const isHidden = tag !== undefined && tryParseImageReference(to)?.tag === undefined;
    const image = {
      from,
      to,
      ...(isHidden && { tag }),
      ...(digest !== undefined && { digest }),
      ...(failed !== undefined && { failed }),
      ...(left !== undefined && { left }),
    };
    const tries = retry?.(container);
    const { failures = 0, generation = 0, why = '' } = tries ?? {};
    const others = {
      ...(tries && { retry: { failures, generation, why: cut(why, limits.maxWhyLength) } }),
      ...(earlier.length > 0 && { earlier }),
      ...(event !== undefined && { event }),
      ...(before.length > 0 && { before }),
    };
    return { ...change, update: { policy, at: toTime(timeAfter(last?.at, at)), trigger, ...image, ...others } };
  });
}

/** The time of what follows something: later than that, whatever the clocks of replicas say. */
export function timeAfter(last: string | undefined, now: Date): Date {
  const before = Date.parse(last ?? '');
  // A time further ahead was not written by us, and must not move ours.
  return before >= now.getTime() && before - now.getTime() <= maxSkewMs ? new Date(before + 1) : now;
}

/** The tag that a container was changed to; empty if there was none. */
export function updatedTag({ to, tag }: Pick<LastUpdate, 'to' | 'tag'>): string {
  return tryParseImageReference(to)?.tag ?? tag ?? '';
}

/** The images that a container was changed to, the last one first, as its record has them. */
export function changesOf(last: LastUpdate | undefined): readonly RecentChange[] {
  if (last === undefined) return [];
  const { digest, at, earlier = [] } = last;
  const tag = updatedTag(last);
  const before = earlier.find((one) => one.tag === tag && one.digest === digest);
  const latest = { tag, ...(digest !== undefined && { digest }), at: [at, ...(before?.at ?? [])] };
  return [latest, ...earlier.filter((one) => one !== before)];
}

/** The changes to a container, the last one first, as far as its record has them. */
export function pastChanges(last: LastUpdate | undefined): readonly PastChange[] {
  if (last === undefined) return [];
  const { policy, at, trigger, from, to, tag, digest, event, before = [] } = last;
  const image = { from, to, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
  return [{ policy, at, trigger, ...image, ...(event !== undefined && { event }) }, ...before];
}

/** Whether a time is so far ahead that no replica wrote it. */
export function isImpossible(time: string, now: Date): boolean {
  return Date.parse(time) - now.getTime() > maxSkewMs;
}

/** Whether a change at this time counts towards a loop. */
export function isRecent(time: string, now: Date): boolean {
  const age = now.getTime() - Date.parse(time);
  return age < recentMs && !isImpossible(time, now);
}

/** Those of them within the hour before `now`; the most frequent first, because a loop repeats images. */
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
 * The last change to a container, while the image that we wrote still runs; undefined if it does not, or if the previous image has
 * another name: the annotation must not be a way to make us run something else.
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
