import { tryParseImageReference } from '../model/image-reference.ts';
import { fieldManager, type LastUpdate, ownUpdate } from '../model/last-update.ts';
import { type HistoryEntry, type PolicyStatus, maxLengths } from '../model/policy-status.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { isTargetContainer, resolveTargets, type WorkloadView } from '../model/resolve-target.ts';
import { cut } from '../model/text.ts';
import {
  identityOf,
  imagesOf,
  isSameObject,
  workloadKey,
  type Workload,
  type WorkloadContainer,
  type WorkloadRef,
} from '../model/workload.ts';

/** The images that this policy applied to a workload and whose rollout is not known to be complete. */
export interface Rollout {
  readonly workload: Workload;
  /** The newest change of each container; a change that was superseded, by us or by anyone else, is not followed. */
  readonly entries: readonly HistoryEntry[];
  readonly since: Date;
}

/** The parts of a policy that record its changes. */
export type RolloutOwner = Pick<ImagePolicy, 'namespace' | 'uid' | 'spec' | 'status'>;

/**
 * The targets of the policy that run an image it applied, according to their own annotations and the history, with the newest change of each container.
 * A workload that is no longer a target is not watched, even if the history contains it.
 */
export function followedWorkloads(
  policy: RolloutOwner,
  view: WorkloadView,
): { readonly workload: Workload; readonly entries: readonly HistoryEntry[] }[] {
  const { spec, status } = policy;
  if (!isUsable(spec)) return [];
  const byContainer = new Map(newestOf(status.history ?? []).map((entry) => [containerKey(entry, entry.container), entry]));
  return resolveTargets(spec.targets, view).flatMap((workload) => {
    const entries = changesOf(workload, policy, byContainer).filter(({ container }) =>
      spec.targets.some((target) => isTargetContainer(target, workload, container)),
    );
    return entries.length === 0 ? [] : [{ workload, entries }];
  });
}

/** The rollouts that are in progress or have failed. */
export function currentRollouts(policy: RolloutOwner, view: WorkloadView): Rollout[] {
  return followedWorkloads(policy, view).flatMap(({ workload, entries }) => {
    const open = entries.filter(isOpen);
    return open.length === 0 ? [] : [{ workload, entries: open, since: new Date(Math.max(...open.map(({ at }) => Date.parse(at)))) }];
  });
}

/** Whether the history contains this very entry: results are recorded only for entries of the history. */
export function isRecorded({ history = [] }: PolicyStatus, entry: HistoryEntry): boolean {
  return history.includes(entry);
}

function changesOf(workload: Workload, policy: RolloutOwner, recorded: ReadonlyMap<string, HistoryEntry>): HistoryEntry[] {
  return imagesOf(workload).flatMap(({ container }) => {
    const entry = recorded.get(containerKey(workload, container.name));
    // A workload of a kind that does not roll out has no rollout to follow: only the history is used.
    const update = workload.rollout === undefined ? undefined : ownUpdate(container, policy.uid);
    // For a workload in another namespace, an entry in the history does not prove that the policy applied the running image.
    const isBelieved = workload.namespace === policy.namespace || update !== undefined;
    const isCurrent = isBelieved && entry !== undefined && isSameObject(entry, workload) && runs(container, entry.to);
    if (update === undefined) return isCurrent ? [entry] : [];
    return isCurrent && Date.parse(entry.at) >= Date.parse(update.at) ? [entry] : [toEntry(workload, container, update, policy.status)];
  });
}

/**
 * Builds an entry for a change that the history does not hold (any more). Its result follows from `settledAt` alone, the time up to which all changes are complete.
 * A rejected digest is rejected for all targets, so a digest from an annotation is trusted only if the workload runs it or the policy's status contains it.
 */
function toEntry(workload: Workload, { name, image }: WorkloadContainer, update: LastUpdate, status: PolicyStatus): HistoryEntry {
  const { from, at, trigger } = update;
  const { rollouts, latest, history = [], rejected = [] } = status;
  const known = [tryParseImageReference(image), latest, ...history, ...rejected];
  const digest = known.some((one) => one?.digest === update.digest) ? update.digest : undefined;
  const isSettled = Date.parse(at) <= Date.parse(rollouts?.settledAt ?? '');
  return {
    ...identityOf(workload),
    container: name,
    from,
    to: cut(image, maxLengths.image),
    tag: tryParseImageReference(update.to)?.tag ?? '',
    ...(digest !== undefined && { digest }),
    trigger,
    at,
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

/** Identifies a container of a workload; used as a map key. */
export function containerKey(workload: WorkloadRef, container: string): string {
  return `${workloadKey(workload)}/${container}`;
}

/** Whether a container runs the image that was written: admission webhooks may add a digest to a tag that we wrote. */
export function runs({ image, imageOwner }: WorkloadContainer, to: string): boolean {
  return image === to || (imageOwner === fieldManager && image.startsWith(`${to}@`));
}
