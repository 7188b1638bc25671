import { tryParseImageReference } from '../model/image-reference.ts';
import { fieldManager } from '../model/field-manager.ts';
import type { HistoryEntry, PolicyStatus } from '../model/policy-status.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { ownUpdate, type LastUpdate } from '../model/last-update.ts';
import { isMeantContainer, resolveTargets, type WorkloadView } from '../model/resolve-target.ts';
import { cut } from '../model/status-text.ts';
import {
  identityOf,
  imagesOf,
  isSameObject,
  workloadKey,
  type Workload,
  type WorkloadContainer,
  type WorkloadRef,
} from '../model/workload.ts';

/** What a workload runs by our hand, as long as it is not known to be out. */
export interface Rollout {
  readonly workload: Workload;
  /** The newest change of each container; a change that was overtaken, by us or by somebody else, is not followed. */
  readonly entries: readonly HistoryEntry[];
  readonly since: Date;
}

/** As much of a policy as tells what it did. */
export type RolloutOwner = Pick<ImagePolicy, 'namespace' | 'uid' | 'spec' | 'status'>;

/**
 * The policy's targets that run something by its hand, by what they remember themselves and by what the history says, with the newest change of each container.
 * A workload that is no target any more is not followed, whatever the history says.
 */
export function followedWorkloads(
  policy: RolloutOwner,
  view: WorkloadView,
): { readonly workload: Workload; readonly entries: readonly HistoryEntry[] }[] {
  const { spec, status } = policy;
  if (!isUsable(spec)) return [];
  const byPlace = new Map(newestOf(status.history ?? []).map((entry) => [placeOf(entry, entry.container), entry]));
  return resolveTargets(spec.targets, view).flatMap((workload) => {
    const entries = changesOf(workload, policy, byPlace).filter(({ container }) =>
      spec.targets.some((target) => isMeantContainer(target, workload, container)),
    );
    return entries.length === 0 ? [] : [{ workload, entries }];
  });
}

/** The rollouts that are under way or failed. */
export function currentRollouts(policy: RolloutOwner, view: WorkloadView): Rollout[] {
  return followedWorkloads(policy, view).flatMap(({ workload, entries }) => {
    const open = entries.filter(isOpen);
    return open.length === 0 ? [] : [{ workload, entries: open, since: new Date(Math.max(...open.map(({ at }) => Date.parse(at)))) }];
  });
}

/** Whether the history has this very entry: only of those is remembered what became of them. */
export function isRecorded({ history = [] }: PolicyStatus, entry: HistoryEntry): boolean {
  return history.includes(entry);
}

function changesOf(workload: Workload, policy: RolloutOwner, recorded: ReadonlyMap<string, HistoryEntry>): HistoryEntry[] {
  return imagesOf(workload).flatMap(({ container }) => {
    const entry = recorded.get(placeOf(workload, container.name));
    // Of what does not roll out nothing is to be found out: the history tells of it, as far as it goes.
    const update = workload.rollout === undefined ? undefined : ownUpdate(container, policy.uid);
    // In another namespace, a history alone is no proof that what runs there is ours.
    const isBelieved = workload.namespace === policy.namespace || update !== undefined;
    const isCurrent = isBelieved && entry !== undefined && isSameObject(entry, workload) && runs(container, entry.to);
    if (update === undefined) return isCurrent ? [entry] : [];
    return isCurrent && Date.parse(entry.at) >= Date.parse(update.at) ? [entry] : [toEntry(workload, container, update, policy.status)];
  });
}

/**
 * A change that the history does not hold, or not any more. Of those, nothing is remembered but the time up to which all are over. What failed is rejected by its
 * digest, for all targets: that is believed of a workload only where it runs it, or the policy knows it.
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
    to: cut(image, 1024),
    tag: tryParseImageReference(update.to)?.tag ?? '',
    ...(digest !== undefined && { digest }),
    trigger,
    at,
    result: isSettled ? 'RolledOut' : 'Applied',
  };
}

/** Whether an entry's end is not known, or bad and perhaps not the last word. */
export function isOpen({ result }: HistoryEntry): boolean {
  return result === 'Applied' || result === 'Failed';
}

/** The newest change of each container. */
export function newestOf(history: readonly HistoryEntry[]): HistoryEntry[] {
  const newest = new Map<string, HistoryEntry>();
  for (const entry of history) {
    const key = placeOf(entry, entry.container);
    if (!newest.has(key)) newest.set(key, entry);
  }
  return [...newest.values()];
}

/** Names a container of a workload: for maps. */
export function placeOf(workload: WorkloadRef, container: string): string {
  return `${workloadKey(workload)}/${container}`;
}

/** Whether a container runs what was written: admission webhooks add the digest to a tag of ours. */
export function runs({ image, imageOwner }: WorkloadContainer, to: string): boolean {
  return image === to || (imageOwner === fieldManager && image.startsWith(`${to}@`));
}
