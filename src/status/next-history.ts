import { maxDetailed } from '../model/stored-status.ts';
import { cut, toSeconds } from '../model/text.ts';
import type { Outcome, OwnImage } from '../plan/outcome.ts';
import type { AppliedChange } from '../plan/plan-update.ts';
import { maxLengths, maxListed, type HistoryEntry, type PolicyStatus, type TriggerSource } from '../model/policy-status.ts';
import { identityOf, isSameObject, type WorkloadIdentity } from '../model/workload.ts';

/** Replicas that change the same container at the same moment report their changes within this time. */
const raceMs = 10_000;

/**
 * The history after an outcome, the latest first; undefined if nothing is new. An image that the policy applied but that has no entry gets one: a crash between
 * the patch and the status update loses the entry. `isOvertaken`: another replica has recorded something newer.
 */
export function nextHistory(
  before: Pick<PolicyStatus, 'history' | 'lastAppliedTag' | 'targets'>,
  outcome: Outcome & { readonly isOvertaken?: boolean },
  trigger: TriggerSource,
  now: Date,
): HistoryEntry[] | undefined {
  const { tag, digest, changes = [], ours = [], isOvertaken = false } = outcome;
  const { history: old = [] } = before;
  if (tag === undefined) return undefined;
  const common = { tag, ...(digest !== undefined && { digest }), trigger, at: toSeconds(now), result: 'Applied' as const };
  const toEntry = ({ workload, container }: AppliedChange | OwnImage, images: { from?: string; to: string }): HistoryEntry => ({
    ...identityOf(workload),
    container,
    ...images,
    ...common,
  });
  const changed = changes
    .map((change) => ({
      ...toEntry(change, { from: cut(change.from, maxLengths.image), to: cut(change.became ?? change.to, maxLengths.image) }),
      ...(change.at !== undefined && { at: change.at }),
    }))
    .filter((entry) => !isWritten(old, entry));
  const found = ours
    .filter((own) => !changes.some((change) => isSame(own, change)) && !isRecorded(before, own, tag) && !isReplaced(old, own, now))
    .map((own) => ({ ...toEntry(own, { ...ranBefore(before, own), to: cut(own.image, maxLengths.image) }), ...remembered(own, now) }));
  if (changed.length + found.length === 0) return undefined;
  return changed
    .reduceRight<readonly HistoryEntry[]>((history, entry) => insert(history, entry, isOvertaken), [...found, ...old])
    .slice(0, maxListed);
}

/**
 * Entries are usually added at the top. Replicas that change a container one after the other report this in any order, so the changes of the last seconds are joined
 * where the `from` of one is the `to` of another. One that fits nowhere yet is put below those that were made in the
 * seconds after it, or if it `isOvertaken`, below all that are not older.
 */
function insert(history: readonly HistoryEntry[], entry: HistoryEntry, isOvertaken: boolean): HistoryEntry[] {
  const laterMs = (other: HistoryEntry) => Date.parse(other.at) - Date.parse(entry.at);
  const isLater = (other: HistoryEntry) => (isOvertaken ? laterMs(other) >= 0 : laterMs(other) > 0 && laterMs(other) < raceMs);
  const oldestLater = history.findLastIndex(isLater);
  const container = { workload: entry, container: entry.container };
  const isRival = (other: HistoryEntry) => isSame({ workload: other, container: other.container }, container) && laterMs(other) > -raceMs;
  const rivals = history.filter(isRival);
  const joined = join(rivals, entry);
  if (joined === undefined) return history.toSpliced(oldestLater + 1, 0, entry);
  const newer = rivals[joined.indexOf(entry) - 1];
  const place = newer === undefined ? Math.min(oldestLater + 1, history.findIndex(isRival)) : history.indexOf(newer) + 1;
  const next = joined.values();
  return history.toSpliced(place, 0, entry).map((one) => (one === entry || isRival(one) ? (next.next().value ?? one) : one));
}

/** All of them, the newest first; series of changes that follow each other directly stay together, and `entry` may connect two of them. undefined if it follows none and precedes none. */
function join(rivals: readonly HistoryEntry[], entry: HistoryEntry): HistoryEntry[] | undefined {
  const series: HistoryEntry[][] = [];
  for (const rival of rivals) {
    const last = series.at(-1);
    if (last?.at(-1)?.from === rival.to) last?.push(rival);
    else series.push([rival]);
  }
  const before = series.find(([newest]) => newest?.to === entry.from);
  const isAfter = (oldest: HistoryEntry | undefined) => oldest?.from === entry.to && Date.parse(oldest.at) >= Date.parse(entry.at);
  const after = series.find((one) => one !== before && isAfter(one.at(-1)));
  if (before === undefined && after === undefined) return undefined;
  const connected = [...(after ?? []), entry, ...(before ?? [])];
  const place = series.findIndex((one) => one === before || one === after);
  return series.flatMap((one, index) => (index === place ? connected : one === before || one === after ? [] : one));
}

/** The annotation says what ran before; if it was removed, the status from before the crash says what ran at the last reconcile before the patch. */
function ranBefore({ targets = [] }: Pick<PolicyStatus, 'targets'>, own: OwnImage): { from?: string } {
  if (own.update !== undefined) return { from: own.update.from };
  const seen = targets.find((state) => state.container !== undefined && isSame({ workload: state, container: state.container }, own));
  return seen?.image === undefined || seen.image === own.image ? {} : { from: seen.image };
}

/** The fields of a change that was found afterwards; `at` is never before the time of the change, whatever the clocks of replicas say. */
function remembered({ update }: OwnImage, now: Date): Partial<HistoryEntry> {
  if (update === undefined) return {};
  const at = toSeconds(new Date(Math.max(now.getTime(), Date.parse(update.at))));
  return { at, ...(update.digest !== undefined && { digest: update.digest }), trigger: update.trigger };
}

/**
 * A container without an entry may have been changed before the history begins, or its entry may have been pushed out by others of the same reconcile: then
 * the last applied tag stands for all containers that run it.
 */
function isRecorded(
  { history = [], lastAppliedTag }: Pick<PolicyStatus, 'history' | 'lastAppliedTag'>,
  { workload, container, image }: OwnImage,
  tag: string,
): boolean {
  const newest = newestAt(history, { workload, container });
  if (newest !== undefined) return newest.to === cut(image, maxLengths.image);
  if (history.length === 0) return lastAppliedTag === tag;
  // A definition of an earlier build drops all changes but those that are stored with their fields.
  return (history.length >= maxListed || history.length === maxDetailed) && history[0]?.tag === tag;
}

/** A late reconcile reports outdated state: the history may already hold a later change, such as a rollback at the same moment. */
function isReplaced(history: readonly HistoryEntry[], { workload, container, image, update }: OwnImage, now: Date): boolean {
  const newest = newestAt(history, { workload, container });
  if (newest?.from !== cut(image, maxLengths.image)) return false;
  return update === undefined ? now.getTime() - Date.parse(newest.at) < raceMs : Date.parse(update.at) <= Date.parse(newest.at);
}

/**
 * A status whose write got no response is written again. Another replica may also have found the change on the workload, and recorded it at the moment at which
 * it was made, or shortly after.
 */
function isWritten(history: readonly HistoryEntry[], { container, from, to, at, ...workload }: HistoryEntry): boolean {
  const entries = history.filter((entry) => isSame({ workload: entry, container: entry.container }, { workload, container }));
  const laterMs = (entry: HistoryEntry) => Date.parse(entry.at) - Date.parse(at);
  const [newest] = entries;
  if (newest?.to === to && newest.at === at) return true;
  // What follows the newest entry is a change of its own.
  if (newest?.to === from) return false;
  return entries.some((entry) => entry.from === from && entry.to === to && laterMs(entry) >= 0 && laterMs(entry) < raceMs);
}

interface ContainerRef {
  readonly workload: WorkloadIdentity;
  readonly container: string;
}

function newestAt(history: readonly HistoryEntry[], container: ContainerRef): HistoryEntry | undefined {
  return history.find((entry) => isSame({ workload: entry, container: entry.container }, container));
}

function isSame(a: ContainerRef, b: ContainerRef): boolean {
  return a.container === b.container && isSameObject(a.workload, b.workload);
}
