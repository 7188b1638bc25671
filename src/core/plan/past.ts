/**
 * The past of the containers of a policy: the changes in its history, and those that the workloads record (`model/last-update.ts`). A record is written with
 * the image, and the history some time later, or never after a crash. Code that depends on earlier changes therefore uses this module, not the history alone.
 */
import { defined } from '../model/defined.ts';
import type { ImagePolicy } from '../model/image-policy.ts';
import { tryParseImageReference, type Candidate } from '../model/image-reference.ts';
import { fieldManager, isImpossible, lastUpdateOf, pastChanges, updatedTag, type PastChange } from '../model/last-update.ts';
import { maxListed, type HistoryEntry, type PolicyStatus } from '../model/policy-status.ts';
import { maxLengths } from '../model/status-fields.ts';
import { cut } from '../model/text.ts';
import { findContainer, identityOf, imagesOf, isSameObject, type Workload, type WorkloadIdentity } from '../model/workload.ts';

/** The policy whose past is read. */
export interface PastOwner {
  readonly uid?: ImagePolicy['uid'] | undefined;
  readonly status?: Pick<PolicyStatus, 'history' | 'latest'>;
}

/** The changes of the policy to a container of this object, the latest first. */
export function changesTo({ uid, status }: PastOwner, workload: Workload | WorkloadIdentity, container: string): HistoryEntry[] {
  const isHere = (entry: HistoryEntry) => entry.container === container && isSameObject(entry, workload);
  const known = (status?.history ?? []).filter(isHere);
  if (!('containers' in workload)) return known;
  // A plan asks for these changes many times, and the history mostly has all that the workload records.
  return withChanges(known, recordedChanges(uid, workload, container, isRecordedIn(known)));
}

/** All changes of the policy, the latest first: those in its history, and those that these workloads record. Of equal records, the last is kept. */
export function allChanges({ uid, status }: PastOwner, workloads: readonly Workload[]): readonly HistoryEntry[] {
  const recorded = workloads.flatMap((workload) => recordedOn(uid, workload)).toSorted((a, b) => timeOf(b) - timeOf(a));
  const others = Map.groupBy(recorded, ({ from, to }) => `${from} ${to}`);
  return withChanges(
    status?.history ?? [],
    [...others.values()].flatMap(([last]) => last ?? []),
  );
}

/**
 * The history with the missing changes that these workloads record, because their status was never written. Owners of another namespace may write any record,
 * so there only a change of an image that is known to have run is believed. A change in the future is left out, because it would stay the last one until then.
 */
export function completeHistory(
  history: readonly HistoryEntry[],
  { uid, namespace, status }: Required<PastOwner> & Pick<ImagePolicy, 'namespace'> & { readonly status: Pick<PolicyStatus, 'targets'> },
  workloads: readonly Workload[],
  now: Date,
): readonly HistoryEntry[] {
  // A full history has dropped changes that are older than its successful ones. Failures stay longer, but never in place of the newer half.
  const kept = history.filter((entry, index) => !staysLonger(entry) || index < maxListed / 2).map(timeOf);
  const since = history.length < maxListed ? -Infinity : Math.min(...kept);
  const ran = new Set([...history.flatMap(({ from, to }) => [from, to]), ...(status.targets ?? []).map(({ image }) => image)]);
  const missing = workloads
    .flatMap((workload) => recordedOn(uid, workload))
    .filter((change) => timeOf(change) > since && !isImpossible(change.at, now) && (change.namespace === namespace || ran.has(change.from)))
    .filter((change) => !history.some((one) => isSameChange(one, change)));
  return missing.length === 0
    ? history
    : withChanges(history, missing.toSorted((a, b) => timeOf(b) - timeOf(a)).slice(0, maxListed)).slice(0, maxListed);
}

/** Whether an entry stays longer in a full history than others, as failures do (`rollout/record-results.ts`). */
function staysLonger({ result }: HistoryEntry): boolean {
  return result === 'Failed' || result === 'RolledBack';
}

/**
 * Whether a cached workload lacks the last change that the status has of it. The record of a change is written with the image, so the cache is then older than
 * the status, and its image is the one before the change. Somebody may also have removed the record, which only the API server can show.
 */
export function lacksLastChange(history: readonly HistoryEntry[], workload: Workload): boolean {
  return [...imagesOf(workload).map(({ container }) => container.name), ...Object.keys(workload.fields ?? {})].some((name) => {
    const times = history.filter((entry) => entry.container === name && isSameObject(entry, workload)).map(timeOf);
    return times.length > 0 && !(Date.parse(lastUpdateOf(workload, name)?.at ?? '') >= Math.max(...times));
  });
}

/** Whether a digest has another source than an annotation: the workload runs it, or the policy recorded it. */
export function isKnownDigest(digest: string | undefined, image: string, { latest, history = [], rejected = [] }: PolicyStatus): boolean {
  return [tryParseImageReference(image), latest, ...history, ...rejected].some((one) => one?.digest === digest);
}

/** The digests of tags when the policy selected or applied them last, as far as they are known. */
export function digestsOfTags(owner: PastOwner, workloads: readonly Workload[]): ReadonlyMap<string, string> {
  const { latest } = owner.status ?? {};
  const images: readonly Candidate[] = [...(latest === undefined ? [] : [latest]), ...allChanges(owner, workloads)];
  return new Map(images.toReversed().flatMap(({ tag, digest }): [string, string][] => (digest === undefined ? [] : [[tag, digest]])));
}

/**
 * Inserts a change into a list, the latest first, unless it is in the list. The times of the changes of one container are in the order of the changes. Those of
 * different containers depend on the clocks of replicas.
 */
export function withChange(changes: readonly HistoryEntry[], change: HistoryEntry): HistoryEntry[] {
  if (changes.some((one) => isSameChange(one, change))) return [...changes];
  const isLater = (one: HistoryEntry) => timeOf(one) > timeOf(change);
  const afterLater = changes.findLastIndex((one) => isSameContainer(one, change) && isLater(one)) + 1;
  const firstNotLater = changes.findIndex((one) => !isLater(one));
  return changes.toSpliced(Math.max(afterLater, firstNotLater === -1 ? changes.length : firstNotLater), 0, change);
}

/** Inserts several changes, which are sorted, the latest first. */
function withChanges(changes: readonly HistoryEntry[], others: readonly HistoryEntry[]): HistoryEntry[] {
  return others.reduceRight(withChange, [...changes]);
}

/** A history as the status has it: with the tag of the last change. */
export type LastChanges = Pick<PolicyStatus, 'history' | 'lastAppliedTag'>;

/** The fields of the status that show this history; those that it has where it is undefined. */
export function lastChanges(history: PolicyStatus['history']): LastChanges {
  const [newest] = history ?? [];
  if (history === undefined) return {};
  return { history, ...(newest !== undefined && { lastAppliedTag: newest.tag }) };
}

/** Whether entries about a container have a change that its workload records: as `isSameChange`, before that is made an entry. */
function isRecordedIn(entries: readonly HistoryEntry[]): (change: PastChange) => boolean {
  return (change) => {
    const tag = updatedTag(change);
    return entries.some(
      (one) =>
        one.tag === tag &&
        (one.at === change.at || timeOf(one) === timeOf(change)) &&
        (one.from === undefined || one.from === cut(change.from, maxLengths.image)),
    );
  };
}

/** Whether both are records of the same change: what admission made of the image may be known to one of them only. */
export function isSameChange(a: HistoryEntry, b: HistoryEntry): boolean {
  if (a.tag !== b.tag || !isSameContainer(a, b) || timeOf(a) !== timeOf(b)) return false;
  return a.from === undefined || b.from === undefined || a.from === b.from;
}

/** Whether two entries are about the same container of the same object. */
export function isSameContainer(a: ContainerIdentity, b: ContainerIdentity): boolean {
  return a.container === b.container && isSameObject(a, b);
}

/** The image of a container as the status shows it; undefined if the container is no target, or is not seen. */
export function shownImage({ targets = [] }: PolicyStatus, { container, ...workload }: ContainerIdentity): string | undefined {
  return targets.find((one) => one.container === container && isSameContainer({ ...one, container }, { ...workload, container }))?.image;
}

type ContainerIdentity = WorkloadIdentity & Pick<HistoryEntry, 'container'>;

/** The record of a change as an entry of the history. `image` is the running image, if admission has rewritten the written one. */
export function toEntry(update: PastChange, container: ContainerIdentity, image = update.to): HistoryEntry {
  const { from, digest, setDigest, alongside, trigger, at } = update;
  return {
    ...identityOf(container),
    container: container.container,
    from: cut(from, maxLengths.image),
    to: cut(image, maxLengths.image),
    tag: updatedTag(update),
    ...defined({ digest, setDigest }),
    ...(alongside !== undefined && { alongside: alongside.map((one) => ({ ...one })) }),
    trigger,
    at,
    result: 'Applied',
  };
}

/** The changes of a policy to all images of a workload, as the workload records them. */
function recordedOn(uid: string | undefined, workload: Workload): HistoryEntry[] {
  const names = [...imagesOf(workload).map(({ container }) => container.name), ...(workload.fieldUpdates?.keys() ?? [])];
  return names.flatMap((name) => recordedChanges(uid, workload, name));
}

/** The changes of a policy to a container, as its workload records them, the latest first, without those that are known. */
function recordedChanges(
  uid: string | undefined,
  workload: Workload,
  container: string,
  isKnown: (change: PastChange) => boolean = () => false,
): HistoryEntry[] {
  const found = findContainer(workload, container);
  return pastChanges(lastUpdateOf(workload, container)).flatMap((change, index) => {
    if (change.policy !== uid || isKnown(change)) return [];
    // The current image in a field that we own is the result of our last write.
    const isShown = index === 0 && found?.imageOwner === fieldManager;
    return [toEntry(change, { ...workload, container }, isShown ? found.image : change.to)];
  });
}

function timeOf({ at }: Pick<HistoryEntry, 'at'>): number {
  return Date.parse(at);
}
