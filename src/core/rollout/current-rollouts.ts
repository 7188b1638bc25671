import { isSameWhole } from '../model/companions.ts';
import { tryParseImageReference } from '../model/image-reference.ts';
import { fieldManager, ownUpdate } from '../model/last-update.ts';
import type { HistoryEntry, PolicyStatus } from '../model/policy-status.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import type { TargetSnapshot } from '../model/target-snapshot.ts';
import { rollsOut, workloadKey, type Workload, type WorkloadContainer, type WorkloadRef } from '../model/workload.ts';
import { changesTo, isKnownDigest } from '../plan/past.ts';
import { isWatchedTarget, watchedImages, type ImageView } from './watched-images.ts';

/** The images that this policy applied to a workload and whose rollout is not known to be complete. */
export interface Rollout {
  readonly workload: Workload;
  /** The newest change of each container; a change that was superseded, by us or by anyone else, is not followed. */
  readonly entries: readonly HistoryEntry[];
  readonly since: Date;
}

/**
 * The targets of the policy that run an image it applied, according to their own annotations and the history, with the newest change of each container.
 * A workload that is no longer a target is not watched, even if the history contains it.
 */
export function followedWorkloads(
  policy: ImagePolicy,
  { targets, ...view }: TargetSnapshot,
): { readonly workload: Workload; readonly entries: readonly HistoryEntry[] }[] {
  const { spec } = policy;
  if (!isUsable(spec)) return [];
  return targets.flatMap((workload) => {
    const entries = currentChanges(workload, policy, view).filter(({ container }) => isWatchedTarget(spec.targets, workload, container));
    return entries.length === 0 ? [] : [{ workload, entries }];
  });
}

/** The rollouts that are in progress or have failed. */
export function currentRollouts(policy: ImagePolicy, snapshot: TargetSnapshot): Rollout[] {
  return followedWorkloads(policy, snapshot).flatMap(({ workload, entries }) => {
    const open = entries.filter(isOpen);
    return open.length === 0 ? [] : [{ workload, entries: open, since: new Date(Math.max(...open.map(({ at }) => Date.parse(at)))) }];
  });
}

/** Whether the history contains this very entry: results are recorded only for entries of the history. */
export function isRecorded({ history = [] }: PolicyStatus, entry: HistoryEntry): boolean {
  return history.includes(entry);
}

/** The last changes of the containers that still run what they were changed to. */
function currentChanges(workload: Workload, policy: ImagePolicy, view: ImageView): HistoryEntry[] {
  return watchedImages(workload, policy, view).flatMap(({ container }) => {
    const [last] = changesTo(policy, workload, container.name);
    // A workload of a kind that does not roll out has no rollout to follow: only the history is used.
    const update = rollsOut(workload) ? ownUpdate(container, policy.uid) : undefined;
    if (last === undefined) return [];
    if (!isRecorded(policy.status, last)) return update === undefined ? [] : [withResult(last, container, policy.status)];
    // For a workload in another namespace, an entry in the history does not prove that the policy applied the running image.
    const isBelieved = workload.namespace === policy.namespace || update !== undefined;
    return isBelieved && runs(container, last) ? [last] : [];
  });
}

/**
 * A change that the history does not hold (any more). Its result follows from `settledAt` alone, the time up to which all changes are complete. A rejected digest is
 * rejected for all targets, so a digest from an annotation is trusted only if the workload runs it or the policy's status contains it.
 */
function withResult(change: HistoryEntry, { image }: WorkloadContainer, status: PolicyStatus): HistoryEntry {
  const { digest, ...others } = change;
  const isSettled = Date.parse(change.at) <= Date.parse(status.rollouts?.settledAt ?? '');
  return {
    ...others,
    ...(digest !== undefined && isKnownDigest(digest, image, status) && { digest }),
    result: isSettled ? 'RolledOut' : 'Applied',
  };
}

/** Whether the result of an entry is unknown, or is a failure that may still change. */
export function isOpen({ result }: HistoryEntry): boolean {
  return result === 'Applied' || result === 'Failed';
}

/** The newest change of each container. */
export function newestOf(history: readonly HistoryEntry[]): HistoryEntry[] {
  const newest = new Map<string, HistoryEntry>();
  for (const entry of history) {
    const key = containerKey(entry, entry.container);
    if (!newest.has(key)) newest.set(key, entry);
  }
  return [...newest.values()];
}

/** The complete changes to the image of a change, by whichever push or wave, of containers that were not changed to another image since. */
export function rolledOutWith({ history = [] }: PolicyStatus, { tag, ...image }: HistoryEntry): readonly HistoryEntry[] {
  return newestOf(history).filter(
    (one) => one.result === 'RolledOut' && one.trigger !== 'Rollback' && one.tag === tag && isSameWhole(one, image),
  );
}

/** Identifies a container of a workload; used as a map key. */
function containerKey(workload: WorkloadRef, container: string): string {
  return `${workloadKey(workload)}/${container}`;
}

/** Whether a container runs the image that was written: admission may add a digest to a tag that we wrote, or name the same image by its digest alone. */
export function runs({ image, imageOwner }: WorkloadContainer, { to, digest }: Pick<HistoryEntry, 'to' | 'digest'>): boolean {
  if (image === to || (imageOwner === fieldManager && image.startsWith(`${to}@`))) return true;
  const [running, written] = [tryParseImageReference(image), tryParseImageReference(to)];
  if (running === undefined || running.repository.path !== written?.repository.path) return false;
  return running.tag === undefined && running.digest !== undefined && running.digest === (written.digest ?? digest);
}
