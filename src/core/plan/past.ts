/**
 * What has happened to the containers of a policy: the changes of its history, and those that the workloads themselves record (`model/last-update.ts`). A record
 * is written with the image, and the history some time later, or never after a crash: so whatever depends on earlier changes asks here, and not the history alone.
 */
import type { ImagePolicy } from '../model/image-policy.ts';
import { tryParseImageReference, type Candidate } from '../model/image-reference.ts';
import { fieldManager, isImpossible, lastUpdateOf, pastChanges, updatedTag, type PastChange } from '../model/last-update.ts';
import { maxLengths, maxListed, type HistoryEntry, type PolicyStatus } from '../model/policy-status.ts';
import { cut } from '../model/text.ts';
import { findContainer, identityOf, imagesOf, isSameObject, type Workload, type WorkloadIdentity } from '../model/workload.ts';

/** Whose past it is. */
export interface PastOwner {
  readonly uid?: ImagePolicy['uid'] | undefined;
  readonly status?: Pick<PolicyStatus, 'history' | 'latest'>;
}

/** The changes of the policy to a container of this object, the latest first. */
export function changesTo({ uid, status }: PastOwner, workload: Workload | WorkloadIdentity, container: string): HistoryEntry[] {
  const isHere = (entry: HistoryEntry) => entry.container === container && isSameObject(entry, workload);
  const known = (status?.history ?? []).filter(isHere);
  return 'containers' in workload ? withChanges(known, recordedChanges(uid, workload, container)) : known;
}

/** All changes of the policy, the latest first: those of its history, and those that these workloads record; of hundreds that were changed alike, the last one. */
export function allChanges({ uid, status }: PastOwner, workloads: readonly Workload[]): readonly HistoryEntry[] {
  const recorded = workloads.flatMap((workload) => recordedOn(uid, workload)).toSorted((a, b) => timeOf(b) - timeOf(a));
  const others = Map.groupBy(recorded, ({ from, to }) => `${from} ${to}`);
  return withChanges(
    status?.history ?? [],
    [...others.values()].flatMap(([last]) => last ?? []),
  );
}

/**
 * The history with the changes that these workloads record and that it lacks: their status was never written. Owners of another namespace may write what they like
 * into their records; there, only a change of an image that is known to have run is believed. A change in the future would stay the last one for as long.
 */
export function completeHistory(
  history: readonly HistoryEntry[],
  { uid, namespace, status }: Required<PastOwner> & Pick<ImagePolicy, 'namespace'> & { readonly status: Pick<PolicyStatus, 'targets'> },
  workloads: readonly Workload[],
  now: Date,
): readonly HistoryEntry[] {
  // A full history has dropped what is older than its changes that did not fail: failures stay longer, but never in place of the newer half.
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

/** Failures make others go (`status/record-rollouts.ts`). */
function staysLonger({ result }: HistoryEntry): boolean {
  return result === 'Failed' || result === 'RolledBack';
}

/**
 * Whether a workload as a cache has it lacks the last change that the status has of it: the record of a change is written with the image, so the cache is older than
 * the status, and its image is the one before the change. Somebody may have removed the record as well, which only the API server can say.
 */
export function lacksLastChange(history: readonly HistoryEntry[], workload: Workload): boolean {
  return [...imagesOf(workload).map(({ container }) => container.name), ...Object.keys(workload.fields ?? {})].some((name) => {
    const times = history.filter((entry) => entry.container === name && isSameObject(entry, workload)).map(timeOf);
    return times.length > 0 && !(Date.parse(lastUpdateOf(workload, name)?.at ?? '') >= Math.max(...times));
  });
}

/** Whether a digest is more than the claim of an annotation: the workload runs it, or the policy has it from elsewhere. */
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
 * The changes with another one in its place, the latest first; without it where it is among them. The times of the changes of one container are in the order in
 * which these were made; those of different containers are those of the replicas' clocks.
 */
export function withChange(changes: readonly HistoryEntry[], change: HistoryEntry): HistoryEntry[] {
  if (changes.some((one) => isSameChange(one, change))) return [...changes];
  const isLater = (one: HistoryEntry) => timeOf(one) > timeOf(change);
  const afterLater = changes.findLastIndex((one) => isSameContainer(one, change) && isLater(one)) + 1;
  const firstNotLater = changes.findIndex((one) => !isLater(one));
  return changes.toSpliced(Math.max(afterLater, firstNotLater === -1 ? changes.length : firstNotLater), 0, change);
}

/** The changes with others, which are sorted: the latest first. */
function withChanges(changes: readonly HistoryEntry[], others: readonly HistoryEntry[]): HistoryEntry[] {
  return others.reduceRight(withChange, [...changes]);
}

/** Whether both are records of the same change: what admission made of the image may be known to one of them only. */
export function isSameChange(a: HistoryEntry, b: HistoryEntry): boolean {
  if (!isSameContainer(a, b) || timeOf(a) !== timeOf(b) || a.tag !== b.tag) return false;
  return a.from === undefined || b.from === undefined || a.from === b.from;
}

/** Whether both are about the same container of the same object. */
export function isSameContainer(a: ContainerIdentity, b: ContainerIdentity): boolean {
  return a.container === b.container && isSameObject(a, b);
}

type ContainerIdentity = WorkloadIdentity & Pick<HistoryEntry, 'container'>;

/** The record of a change as an entry of the history. `image`: what runs, where admission has rewritten the image that was written. */
export function toEntry(update: PastChange, container: ContainerIdentity, image = update.to): HistoryEntry {
  const { from, digest, trigger, at } = update;
  return {
    ...identityOf(container),
    container: container.container,
    from: cut(from, maxLengths.image),
    to: cut(image, maxLengths.image),
    tag: updatedTag(update),
    ...(digest !== undefined && { digest }),
    trigger,
    at,
    result: 'Applied',
  };
}

/** The changes of a policy to all that this workload runs, as it records them. */
function recordedOn(uid: string | undefined, workload: Workload): HistoryEntry[] {
  const names = [...imagesOf(workload).map(({ container }) => container.name), ...(workload.fieldUpdates?.keys() ?? [])];
  return names.flatMap((name) => recordedChanges(uid, workload, name));
}

/** The changes of a policy to a container, as its workload records them, the latest first. */
function recordedChanges(uid: string | undefined, workload: Workload, container: string): HistoryEntry[] {
  const found = findContainer(workload, container);
  return pastChanges(lastUpdateOf(workload, container)).flatMap((change, index) => {
    if (change.policy !== uid) return [];
    // Whatever a field of ours holds is what became of the image that we wrote last.
    const isShown = index === 0 && found?.imageOwner === fieldManager;
    return [toEntry(change, { ...workload, container }, isShown ? found.image : change.to)];
  });
}

function timeOf({ at }: HistoryEntry): number {
  return Date.parse(at);
}
