/** What the write of a status ends for images of earlier pushes: their wait, or their rollout. Pure. */
import type { Candidate } from '../model/image-reference.ts';
import type { HistoryEntry, PolicyStatus } from '../model/policy-status.ts';
import { formatWorkload } from '../model/workload.ts';
import { isSameChange, isSameContainer, shownImage } from '../plan/past.ts';
import { isPending } from '../plan/pending-candidate.ts';
import { isWaveWait } from '../model/wave-wait.ts';
import { rolledOutWith } from '../rollout/current-rollouts.ts';
import { describeReplaced, nameBeside } from '../rollout/replaced-change.ts';
import { isOther } from './next-latest.ts';

/** Which image is selected instead of one that had to wait; undefined if that one is still selected, or still waits. */
export function insteadOf(
  awaited: Candidate,
  before: PolicyStatus,
  { latest, waiting, refused, announced }: PolicyStatus,
): string | undefined {
  const pending = isPending(waiting) ? waiting : undefined;
  if ([latest, pending, refused, announced].some((one) => !isOther(one, awaited))) return undefined;
  // An image that was refused may be found again: only another selection ends its wait.
  if (!isOther(before.refused, awaited) && !isOther(before.latest, latest)) return undefined;
  const isShown = [before.latest, isPending(before.waiting) ? before.waiting : undefined, before.refused].some(
    (one) => !isOther(one, awaited),
  );
  if (!isShown && announced !== undefined)
    return `${nameBeside(announced, awaited)} was pushed after ${nameBeside(awaited, announced)}, which had to wait`;
  const next = isOther(before.latest, latest) ? latest : (pending ?? latest);
  return next && `${nameBeside(next, awaited)} is selected instead of ${nameBeside(awaited, next)}, which had to wait`;
}

/** A change of an image that another one has replaced before its rollout was known to be complete, and which one. */
export interface ReplacedChange {
  readonly entry: HistoryEntry;
  readonly message: string;
}

/** The changes before, without a result, whose containers have been given another image since, by the policy or by anybody else. */
export function replacedChanges(before: PolicyStatus, after: PolicyStatus): readonly ReplacedChange[] {
  const { history: known = [] } = before;
  const { history = [] } = after;
  return known.flatMap((entry): ReplacedChange[] => {
    const isNewest = known.find((one) => isSameContainer(one, entry)) === entry;
    const recorded = history.find((one) => isSameChange(one, entry));
    if (!isNewest || entry.result !== 'Applied' || (recorded !== undefined && recorded.result !== 'Applied')) return [];
    const newest = history.find((one) => isSameContainer(one, entry));
    if (newest !== undefined && !isSameChange(newest, entry)) {
      const message = describeReplaced(entry, history);
      return message === undefined ? [] : [{ entry, message }];
    }
    if (shownImage(before, entry) !== entry.to || shownImage(after, entry) === entry.to) return [];
    return [
      { entry, message: `${formatWorkload(entry)} is not seen to run ${entry.tag} any more, and its rollout was not known to be complete` },
    ];
  });
}

/**
 * The complete changes to an image that other workloads were still to get, in a wave or in a rollout under way, and that another image has replaced before that: by a
 * change, or by a selection where the next wave had to wait.
 */
export function leftChanges(before: PolicyStatus, after: PolicyStatus): readonly ReplacedChange[] {
  const { history: known = [], waiting, rollouts } = before;
  const [last] = known;
  const [newest] = after.history ?? [];
  if (last === undefined || newest === undefined) return [];
  const change = known.some((one) => isSameChange(one, newest)) ? undefined : newest;
  const ofWave = isWaveWait(waiting) && isPending(waiting) ? known.find((entry) => !isOther(waiting, entry)) : undefined;
  const leftBy = (image: HistoryEntry, next: Candidate | undefined): readonly ReplacedChange[] => {
    if (next === undefined || !isOther(image, next)) return [];
    const message = `${nameBeside(next, image)} has replaced ${nameBeside(image, next)} before it was out on all its workloads`;
    return rolledOutWith(before, image).map((entry) => ({ entry, message }));
  };
  const isUnderWay = (rollouts?.progressing ?? 0) > 0 && (ofWave === undefined || isOther(ofWave, last));
  return [...(ofWave === undefined ? [] : leftBy(ofWave, change ?? after.latest)), ...(isUnderWay ? leftBy(last, change) : [])];
}

/** Whether an image begins to wait that is not selected before it may be applied. */
export function isNewWait(
  old: PolicyStatus,
  { latest, waiting }: { readonly [Field in 'latest' | 'waiting']: PolicyStatus[Field] | undefined },
): boolean {
  return isPending(waiting) && isOther(latest, waiting) && !(isPending(old.waiting) && !isOther(old.waiting, waiting));
}
