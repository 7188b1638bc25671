import type { Candidate } from '../model/image-reference.ts';
import type { Waiting } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';

/**
 * Reasons for which a selected image is pending and may be applied later. It stays pending whatever else happens to the policy, until a
 * reconcile that evaluated it replaces or removes it. Other waits belong to a job that is retried, and end when it succeeds.
 */
const pendingReasons: ReadonlySet<string> = new Set<Reason>([
  'MinAge',
  'Window',
  'TooManyChanges',
  'Held',
  'RejectedDigest',
  'ChangeReverted',
]);

/** Whether this is a pending candidate. */
export function isPending(waiting: Waiting | undefined): waiting is PendingCandidate {
  return waiting?.tag !== undefined && pendingReasons.has(waiting.reason);
}

/** A pending candidate. */
export type PendingCandidate = Waiting & { readonly tag: string; readonly reason: Reason };

/** The pending candidate at the start of a reconcile, and the one after it. */
export interface PendingChange {
  readonly seen?: Waiting;
  readonly next?: PendingCandidate;
}

/**
 * The pending candidate after a result: that of the reconcile, unless another replica replaced it meanwhile. If the reconcile did not evaluate it, it is kept.
 */
export function nextPending(current: Waiting | undefined, pending: PendingChange | undefined): PendingCandidate | undefined {
  const kept = isPending(current) ? current : undefined;
  if (pending === undefined || (kept !== undefined && !isSameWait(kept, pending.seen))) return kept;
  return pending.next;
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

/** Whether both are the same tag with the same digest. */
export function isSameImage(a: Candidate | Waiting, b: Candidate | Waiting): boolean {
  return a.tag === b.tag && a.digest === b.digest;
}

function isSameWait(a: Waiting, b: Waiting | undefined): boolean {
  return b !== undefined && isSameImage(a, b) && a.until === b.until && a.reason === b.reason;
}
