import { tryParseImageReference } from './image-reference.ts';
import { fieldManager } from './field-manager.ts';
import type { HistoryEntry, PolicyStatus } from './policy-status.ts';
import { isUsable, type ImagePolicy } from './image-policy.ts';
import { ownUpdate, type LastUpdate } from './last-update.ts';
import { resolveTargets, type WorkloadView } from './resolve-target.ts';
import { cut } from './status-text.ts';
import { isSameWorkload, refOf, workloadKey, type Workload, type WorkloadContainer, type WorkloadRef } from './workload.ts';

/** What a workload runs by our hand, as long as it is not known to be out. */
export interface Rollout {
  readonly workload: Workload;
  /** The newest change of each container; a change that was overtaken, by us or by somebody else, is not followed. */
  readonly entries: readonly HistoryEntry[];
  readonly since: Date;
}

/** A failed change that is to be taken back, or was, without being written down. */
export interface Rollback {
  readonly entry: HistoryEntry & { readonly from: string };
  readonly container: WorkloadContainer;
  readonly index: number;
  readonly init?: true;
  readonly isDone: boolean;
}

/** As much of a policy as tells what it did. */
export type Doer = Pick<ImagePolicy, 'uid' | 'spec' | 'status'>;

/** The workloads that run something by the policy's hand, by what they remember themselves and by what the history says, with the newest change of each container. */
export function followedWorkloads(
  policy: Doer,
  view: WorkloadView,
): { readonly workload: Workload; readonly entries: readonly HistoryEntry[] }[] {
  const newest = newestOf(policy.status.history ?? []);
  const workloads = new Map<string, Workload>();
  if (isUsable(policy.spec))
    for (const workload of resolveTargets(policy.spec.targets, view)) workloads.set(workloadKey(workload), workload);
  for (const entry of newest) {
    const workload = view.findWorkload(entry);
    if (workload !== undefined) workloads.set(workloadKey(workload), workload);
  }
  const byPlace = new Map(newest.map((entry) => [placeOf(entry, entry.container), entry]));
  return [...workloads.values()].flatMap((workload) => {
    const entries = changesOf(workload, policy, byPlace);
    return entries.length === 0 ? [] : [{ workload, entries }];
  });
}

/** The rollouts that are under way or failed. */
export function currentRollouts(policy: Doer, view: WorkloadView): Rollout[] {
  return followedWorkloads(policy, view).flatMap(({ workload, entries }) => {
    const open = entries.filter(isOpen);
    return open.length === 0 ? [] : [{ workload, entries: open, since: new Date(Math.max(...open.map(({ at }) => Date.parse(at)))) }];
  });
}

/** Whether the history has this very entry: only of those is remembered what became of them. */
export function isRecorded({ history = [] }: PolicyStatus, entry: HistoryEntry): boolean {
  return history.includes(entry);
}

function changesOf(workload: Workload, policy: Doer, recorded: ReadonlyMap<string, HistoryEntry>): HistoryEntry[] {
  return [...workload.containers, ...(workload.initContainers ?? [])].flatMap((container) => {
    const entry = recorded.get(placeOf(workload, container.name));
    const update = ownUpdate(container, policy.uid);
    const isCurrent = entry !== undefined && runs(container, entry.to);
    if (update === undefined) return isCurrent ? [entry] : [];
    return isCurrent && Date.parse(entry.at) >= Date.parse(update.at) ? [entry] : [toEntry(workload, container, update, policy.status)];
  });
}

/** A change that the history does not hold, or not any more. Of those, nothing is remembered but the time up to which all are over. */
function toEntry(workload: Workload, { name, image }: WorkloadContainer, update: LastUpdate, { rollouts }: PolicyStatus): HistoryEntry {
  const { from, at, trigger, digest } = update;
  const isSettled = Date.parse(at) <= Date.parse(rollouts?.settledAt ?? '');
  return {
    ...refOf(workload),
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

/**
 * What of a workload's failed changes is to be put back; a rollback that fails itself is not taken back. `failed`: what was found a moment ago, and the
 * history has no room for.
 */
export function rollbacksOf({ history = [] }: PolicyStatus, workload: Workload, failed: readonly HistoryEntry[] = []): Rollback[] {
  const recorded = newestOf(history).filter(({ result }) => result === 'Failed');
  const known = new Set(recorded.map((entry) => placeOf(entry, entry.container)));
  const others = failed.filter((entry) => !known.has(placeOf(entry, entry.container)));
  return [...recorded, ...others].flatMap((entry) => {
    if (!isSameWorkload(entry, workload) || whyNoRollback(entry) !== undefined) return [];
    const { container, ...place } = findPart(workload, entry.container);
    const { from } = entry;
    if (container === undefined || from === undefined) return [];
    const isDone = container.image === from && container.imageOwner === fieldManager;
    return isDone || runs(container, entry.to) ? [{ entry: { ...entry, from }, container, ...place, isDone }] : [];
  });
}

/** Why a change cannot be taken back, or undefined. */
export function whyNoRollback({ from, to, trigger }: HistoryEntry): string | undefined {
  if (trigger === 'Rollback') return 'it is itself what was put back';
  if (from === undefined) return 'it is not known what ran before';
  const [before, after] = [tryParseImageReference(from), tryParseImageReference(to)];
  if (before === undefined) return `what ran before ("${from}") cannot be read`;
  if (before.digest === undefined && (before.tag ?? 'latest') === after?.tag)
    return `what ran before was named by the same tag ("${from}"), which is another image now`;
  return undefined;
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

function placeOf(workload: WorkloadRef, container: string): string {
  return `${workloadKey(workload)}/${container}`;
}

/** A container or an init container: their names differ. */
function findPart(
  { containers, initContainers = [] }: Workload,
  name: string,
): Pick<Rollback, 'index' | 'init'> & { container?: WorkloadContainer } {
  const isInit = !containers.some((one) => one.name === name);
  const list = isInit ? initContainers : containers;
  const index = list.findIndex((one) => one.name === name);
  const container = list[index];
  return { index, ...(isInit && { init: true }), ...(container !== undefined && { container }) };
}

/** Admission webhooks add the digest to a tag that we wrote. */
function runs({ image, imageOwner }: WorkloadContainer, to: string): boolean {
  return image === to || (imageOwner === fieldManager && image.startsWith(`${to}@`));
}
