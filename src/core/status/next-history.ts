import { defined } from '../model/defined.ts';
import { cut, toTime } from '../model/text.ts';
import type { Outcome, OwnImage } from '../plan/outcome.ts';
import { toEntry, withChange } from '../plan/past.ts';
import { maxListed, type HistoryEntry, type PolicyStatus, type TriggerSource } from '../model/policy-status.ts';
import { maxLengths } from '../model/status-fields.ts';
import { identityOf, isSameObject, type WorkloadIdentity } from '../model/workload.ts';

/** The maximum delay of a report without a record of the change. */
const raceMs = 10_000;

/**
 * The history after an outcome, the latest first; undefined if nothing is new. Each change is inserted by its time, however late it is reported. An image that
 * the policy applied but that has no entry gets one, because a crash between the patch and the status update loses the entry.
 */
export function nextHistory(before: PolicyStatus, outcome: Outcome, trigger: TriggerSource, now: Date): HistoryEntry[] | undefined {
  const { changes = [], ours = [] } = outcome;
  // The targets were compared with the image that is applied while another one waits.
  const { tag = '', digest } = outcome.behind ?? outcome;
  const { history: old = [] } = before;
  const common = { tag, ...defined({ digest }), trigger, result: 'Applied' as const };
  const made = changes.flatMap((change): HistoryEntry[] => {
    const { workload, container, from, to, became = to, update, at = update?.at ?? toTime(now) } = change;
    const images = { from: cut(from, maxLengths.image), to: cut(became, maxLengths.image) };
    const unrecorded = tag === '' ? [] : [{ ...identityOf(workload), container, ...images, ...common, at }];
    // The workload's own record describes the change, even if the outcome is about another image.
    const alongside = change.alongside?.map(({ container, from, to }) => ({ container, from, to }));
    return update === undefined ? unrecorded : [toEntry({ ...update, at, ...defined({ alongside }) }, { ...workload, container }, became)];
  });
  if (tag === '' && made.length === 0) return undefined;
  const found = ours
    .filter((own) => !changes.some((change) => isSame(own, change)) && !isRecorded(before, own, tag))
    .flatMap((own): HistoryEntry[] => {
      const { workload, container, image, update } = own;
      if (update !== undefined) return [{ ...defined({ digest }), ...toEntry(update, { ...workload, container }, image), tag }];
      const to = cut(image, maxLengths.image);
      return isReplaced(old, own, now)
        ? []
        : [{ ...identityOf(workload), container, ...ranBefore(before, own), to, ...common, at: toTime(now) }];
    });
  const next = [...made, ...found].reduceRight<readonly HistoryEntry[]>(withChange, old).slice(0, maxListed);
  return next.every((entry, index) => entry === old[index]) ? undefined : next;
}

/** Where the record was removed, the status from before the crash says what ran at the last reconcile before the patch. */
function ranBefore({ targets = [] }: PolicyStatus, own: OwnImage): { from?: string } {
  const seen = targets.find((state) => state.container !== undefined && isSame({ workload: state, container: state.container }, own));
  return seen?.image === undefined || seen.image === own.image ? {} : { from: seen.image };
}

/**
 * Whether the history explains the image of a container. A container without an entry may have been changed before the history begins, or its entry may have
 * been displaced by others of the same reconcile: the time in the workload's own record says so. Without a record, the last applied tag counts for all
 * containers that run it.
 */
function isRecorded(
  { history = [], lastAppliedTag }: PolicyStatus,
  { workload, container, image, update }: OwnImage,
  tag: string,
): boolean {
  const newest = newestAt(history, { workload, container });
  if (newest !== undefined) return newest.to === cut(image, maxLengths.image) && !(update !== undefined && isNewer(update, newest));
  if (history.length === 0) return lastAppliedTag === tag;
  const oldest = history.at(-1);
  if (update !== undefined && history.length >= maxListed && oldest !== undefined) return !isNewer(update, oldest);
  return history.length >= maxListed && history[0]?.tag === tag;
}

function isNewer(one: { readonly at: string }, other: { readonly at: string }): boolean {
  return Date.parse(one.at) > Date.parse(other.at);
}

/** Whether the history has a later change of a container, such as a rollback at the same moment. A late reconcile reports an outdated state. */
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
