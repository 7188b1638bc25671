import type { Candidate } from '../model/image-reference.ts';
import type { Waiting } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';

/**
 * Reasons for which an image waits that was chosen and may be applied later. It keeps its place through whatever else happens to the policy; only a
 * look that asked for it again takes the place away. Other waits are those of a job that is tried again, and end with its success.
 */
const placeReasons: ReadonlySet<string> = new Set<Reason>([
  'MinAge',
  'Window',
  'TooManyChanges',
  'Held',
  'RejectedDigest',
  'ChangeReverted',
]);

/** Whether somebody waits who keeps his place. */
export function isPlace(waiting: Waiting | undefined): waiting is PlacedWaiting {
  return waiting?.tag !== undefined && placeReasons.has(waiting.reason);
}

/** What waits in a place of its own. */
export type PlacedWaiting = Waiting & { readonly tag: string; readonly reason: Reason };

/** What a look found waiting, and what waits after it. */
export interface Place {
  readonly seen?: Waiting;
  readonly next?: PlacedWaiting;
}

/**
 * What waits after an ending: what the look says, unless somebody else took the place since it looked. Without a look at it, it goes on.
 */
export function nextWaiting(current: Waiting | undefined, place: Place | undefined): PlacedWaiting | undefined {
  const kept = isPlace(current) ? current : undefined;
  if (place === undefined || (kept !== undefined && !isSameWait(kept, place.seen))) return kept;
  return place.next;
}

const explanations: Readonly<Record<string, string>> = {
  MinAge: 'when it is as old as spec.minAge asks for',
  Window: 'when the next window of the policy opens',
  TooManyChanges: 'because something changes it back each time: see who else does (another ImagePolicy?)',
  Held: 'when it is released',
  RejectedDigest: 'when it is released',
  ChangeReverted: 'when it is released',
};

/** For conditions, Events and audit records; the same text for the same wait. */
export function describeWaiting({ tag, until, reason }: Waiting): string {
  const why = reason in explanations ? `, ${explanations[reason]}` : '';
  return `${tag ?? 'what is selected'} waits until ${until}${why}`;
}

/** Whether both are the same tag, pointing at the same. */
export function isSameImage(a: Candidate | Waiting, b: Candidate | Waiting): boolean {
  return a.tag === b.tag && a.digest === b.digest;
}

function isSameWait(a: Waiting, b: Waiting | undefined): boolean {
  return b !== undefined && isSameImage(a, b) && a.until === b.until && a.reason === b.reason;
}
