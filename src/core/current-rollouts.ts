import { tryParseImageReference } from './image-reference.ts';
import { fieldManager } from './field-manager.ts';
import type { HistoryEntry, PolicyStatus } from './policy-status.ts';
import { workloadKey, type Workload, type WorkloadContainer, type WorkloadRef } from './workload.ts';

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

type FindWorkload = (ref: WorkloadRef) => Workload | undefined;

/** The rollouts that are under way or failed, by what the history says and what the workloads run. */
export function currentRollouts({ history = [] }: PolicyStatus, findWorkload: FindWorkload): Rollout[] {
  const found = new Map<string, { workload: Workload; entries: HistoryEntry[] }>();
  for (const entry of newestOf(history)) {
    const workload = findWorkload(entry);
    if (workload === undefined || !isOpen(entry)) continue;
    const { container } = findPart(workload, entry.container);
    if (container === undefined || !runs(container, entry.to)) continue;
    const group = found.get(workloadKey(workload)) ?? { workload, entries: [] };
    group.entries.push(entry);
    found.set(workloadKey(workload), group);
  }
  return [...found.values()].map((group) => ({ ...group, since: new Date(Math.max(...group.entries.map(({ at }) => Date.parse(at)))) }));
}

/** What of a workload's failed changes is to be put back; a rollback that fails itself is not taken back. */
export function rollbacksOf({ history = [] }: PolicyStatus, workload: Workload): Rollback[] {
  return newestOf(history).flatMap((entry) => {
    if (workloadKey(entry) !== workloadKey(workload) || entry.result !== 'Failed' || whyNoRollback(entry) !== undefined) return [];
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
    const key = `${workloadKey(entry)}/${entry.container}`;
    if (!newest.has(key)) newest.set(key, entry);
  }
  return [...newest.values()];
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
