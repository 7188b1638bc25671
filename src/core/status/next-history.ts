import { cut, toTime } from '../model/text.ts';
import type { Outcome, OwnImage } from '../plan/outcome.ts';
import { toEntry, withChange } from '../plan/past.ts';
import { maxLengths, maxListed, type HistoryEntry, type PolicyStatus, type TriggerSource } from '../model/policy-status.ts';
import { identityOf, isSameObject, type WorkloadIdentity } from '../model/workload.ts';

/** A replica that reports without a record of the change is not later than this. */
const raceMs = 10_000;

/**
 * The history after an outcome, the latest first; undefined if nothing is new. Each change is put where it belongs by its time, however late it is reported. An image
 * that the policy applied but that has no entry gets one: a crash between the patch and the status update loses the entry.
 */
export function nextHistory(
  before: Pick<PolicyStatus, 'history' | 'lastAppliedTag' | 'targets'>,
  outcome: Outcome,
  trigger: TriggerSource,
  now: Date,
): HistoryEntry[] | undefined {
  const { tag = '', digest, changes = [], ours = [] } = outcome;
  const { history: old = [] } = before;
  const common = { tag, ...(digest !== undefined && { digest }), trigger, result: 'Applied' as const };
  const made = changes.flatMap((change): HistoryEntry[] => {
    const { workload, container, from, to, became = to, update, at = update?.at ?? toTime(now) } = change;
    const images = { from: cut(from, maxLengths.image), to: cut(became, maxLengths.image) };
    const unrecorded = tag === '' ? [] : [{ ...identityOf(workload), container, ...images, ...common, at }];
    // The workload's own record describes it, also where the outcome is about something else by now.
    return update === undefined ? unrecorded : [toEntry({ ...update, at }, { ...workload, container }, became)];
  });
  if (tag === '' && made.length === 0) return undefined;
  const found = ours
    .filter((own) => !changes.some((change) => isSame(own, change)) && !isRecorded(before, own, tag))
    .flatMap((own): HistoryEntry[] => {
      const { workload, container, image, update } = own;
      if (update !== undefined)
        return [{ ...(digest !== undefined && { digest }), ...toEntry(update, { ...workload, container }, image), tag }];
      const to = cut(image, maxLengths.image);
      return isReplaced(old, own, now)
        ? []
        : [{ ...identityOf(workload), container, ...ranBefore(before, own), to, ...common, at: toTime(now) }];
    });
  const next = [...made, ...found].reduceRight<readonly HistoryEntry[]>(withChange, old).slice(0, maxListed);
  return next.every((entry, index) => entry === old[index]) ? undefined : next;
}

/** A history as the status has it: with the tag of the last change. */
export type LastChanges = Pick<PolicyStatus, 'history' | 'lastAppliedTag'>;

/** The fields of the status that show this history; those that it has where it is undefined. */
export function lastChanges(history: PolicyStatus['history']): LastChanges {
  const [newest] = history ?? [];
  if (history === undefined) return {};
  return { history, ...(newest !== undefined && { lastAppliedTag: newest.tag }) };
}

/** Where the record was removed, the status from before the crash says what ran at the last reconcile before the patch. */
function ranBefore({ targets = [] }: Pick<PolicyStatus, 'targets'>, own: OwnImage): { from?: string } {
  const seen = targets.find((state) => state.container !== undefined && isSame({ workload: state, container: state.container }, own));
  return seen?.image === undefined || seen.image === own.image ? {} : { from: seen.image };
}

/**
 * A container without an entry may have been changed before the history begins, or its entry may have been pushed out by others of the same reconcile: then
 * the last applied tag stands for all containers that run it.
 */
function isRecorded(
  { history = [], lastAppliedTag }: Pick<PolicyStatus, 'history' | 'lastAppliedTag'>,
  { workload, container, image, update }: OwnImage,
  tag: string,
): boolean {
  const newest = newestAt(history, { workload, container });
  const isLater = update !== undefined && Date.parse(update.at) > Date.parse(newest?.at ?? '');
  if (newest !== undefined) return newest.to === cut(image, maxLengths.image) && !isLater;
  if (history.length === 0) return lastAppliedTag === tag;
  return history.length >= maxListed && history[0]?.tag === tag;
}

/** A late reconcile reports outdated state: the history may already hold a later change, such as a rollback at the same moment. */
function isReplaced(history: readonly HistoryEntry[], { workload, container, image }: OwnImage, now: Date): boolean {
  const newest = newestAt(history, { workload, container });
  return newest?.from === cut(image, maxLengths.image) && now.getTime() - Date.parse(newest.at) < raceMs;
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
