/** How changes are described that another one has replaced before their rollouts were known to be complete. Pure. */
import type { Candidate } from '../model/image-reference.ts';
import type { HistoryEntry } from '../model/policy-status.ts';
import { isSameChange, isSameContainer } from '../plan/past.ts';

/** Which later change of the container has replaced a change; undefined if none has, or if the same image was only set again. `history`: newest first. */
export function describeReplaced(change: HistoryEntry, history: readonly HistoryEntry[]): string | undefined {
  const newest = history.find((one) => isSameContainer(one, change));
  if (newest === undefined || isSameChange(newest, change) || newest.to === change.to) return undefined;
  return `${nameBeside(newest, change)} has replaced ${nameBeside(change, newest)} before its rollout was complete`;
}

/** The tag, with its digest where the tags are the same. */
export function nameBeside(image: Candidate, other: Candidate): string {
  return image.tag === other.tag && image.digest !== undefined ? `${image.tag}@${image.digest}` : image.tag;
}
