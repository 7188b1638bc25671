import { defined } from '../model/defined.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import type { Candidate } from '../model/image-reference.ts';
import type { HistoryEntry, LatestImage } from '../model/policy-status.ts';
import { isOrderedByName } from '../model/tag-strategy.ts';
import { toTime } from '../model/text.ts';
import type { Outcome } from '../plan/outcome.ts';
import { isSameContainer } from '../plan/past.ts';
import { isNewerImage } from '../select/select-tag.ts';

/** The selected image after a reconcile; the former one if nothing was selected. `selectedAt`: in ms since 1970. */
export function nextLatest(old: LatestImage | undefined, selected: Candidate | undefined, selectedAt: number): LatestImage | undefined {
  if (selected === undefined) return old;
  const { tag, digest, createdAt, companions, setDigest } = selected;
  const image = { tag, ...defined({ digest, createdAt, companions, setDigest }) };
  return old === undefined || isOther(old, image) ? { ...image, selectedAt: toTime(new Date(selectedAt)) } : { ...old, ...image };
}

/** Whether the tag differs, or the same tag points to another digest. A digest that was not known before does not count. */
export function isOther(old: Candidate | undefined, next: Candidate | undefined): boolean {
  if (old?.tag !== next?.tag) return true;
  if (old?.setDigest !== undefined && next?.setDigest !== undefined && old.setDigest !== next.setDigest) return true;
  return old?.digest !== undefined && next?.digest !== undefined && old.digest !== next.digest;
}

/**
 * The selected image, where the history has a newer one and the report of that selection is missing: it is still to come, or the policy was edited or suspended
 * between the change and its report, or the process died. Of images without an order only the changes of this outcome count, because clocks of replicas differ.
 * `before`: the selection before this outcome, later than which the image must have been applied, unless the outcome has evaluated all tags.
 */
export function latestApplied(
  { spec, status: { latest, history = [] } }: Pick<ImagePolicy, 'spec' | 'status'>,
  before: LatestImage | undefined,
  { changes = [], selection, basis }: Pick<Outcome, 'changes' | 'selection' | 'basis'> = {},
): LatestImage | undefined {
  if (!isUsable(spec)) return latest;
  const { strategy } = spec;
  const isOrdered = isOrderedByName(strategy);
  const isOurs = (entry: HistoryEntry) =>
    changes.some(({ workload, container, update }) => update?.at === entry.at && isSameContainer(entry, { ...workload, container }));
  const isBest = selection !== undefined && selection.isNamed !== true;
  const since = isBest ? (basis?.selectedAt ?? Infinity) : Date.parse(before?.selectedAt ?? '');
  return history.reduce<LatestImage | undefined>((last, entry) => {
    const { at, tag, digest, setDigest, trigger } = entry;
    if (trigger === 'Rollback' || Date.parse(at) <= since || strategy.reject(tag) !== undefined) return last;
    if (!isOrdered && !isOurs(entry)) return last;
    const image = { tag, ...defined({ digest, setDigest }) };
    const isNewer = last === undefined || (isOther(last, image) && (!isOrdered || isNewerImage(image, last, spec)));
    return isNewer ? { ...image, selectedAt: at } : last;
  }, latest);
}
