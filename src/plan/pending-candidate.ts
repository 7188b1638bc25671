/**
 * Decides what may be applied now and what waits, where images must reach a minimum age. The pending candidate stays pending, however many newer ones
 * arrive meanwhile: they start to wait once it is applied. So frequent pushes delay an update, but never starve it.
 *
 * | the candidate of this reconcile | nothing is pending | another one is pending  | the pending one is due                         |
 * | ------------------------------- | ------------------ | ----------------------- | ---------------------------------------------- |
 * | would change nothing            | as it is           | the other stays pending | apply the pending one                          |
 * | has been known long enough      | apply it           | apply the candidate     | apply the candidate                            |
 * | is too young                    | it becomes pending | the other stays pending | apply the pending one, then it becomes pending |
 */
import type { Candidate } from '../model/image-reference.ts';
import type { PolicyStatus, Waiting } from '../model/policy-status.ts';
import { toSeconds } from '../model/status-text.ts';
import { isPending, isSameImage, type PendingCandidate } from './waiting.ts';

export interface PendingInput {
  readonly minAgeMs: number;
  readonly candidate: Candidate;
  /** The pending candidate, if it may still be applied. */
  readonly pending?: PendingCandidate;
  /** Where the time is recorded at which a digest was first seen. */
  readonly status: Pick<PolicyStatus, 'waiting' | 'latest' | 'history'>;
  /** Whether applying it would change anything. */
  readonly isWanted: (candidate: Candidate) => boolean;
  readonly now: number;
}

/** What may be planned now, if anything, and the pending candidate afterwards, if it is still wanted then. */
export interface PendingDecision {
  readonly apply?: Candidate;
  readonly next?: PendingCandidate;
}

/** Decides what may be applied now and what is pending afterwards. */
export function decidePending({ candidate, pending, ...input }: PendingInput): PendingDecision {
  const { isWanted, now } = input;
  const held = pending !== undefined && isWanted(pending) ? startWait(pending, input) : undefined;
  const heldIsDue = held !== undefined && dueAt(held) <= now;
  if (!isWanted(candidate)) return heldIsDue ? { apply: toCandidate(held) } : { apply: candidate, ...(held && { next: held }) };
  const own = startWait(candidate, input);
  const others = held === undefined || isSameImage(held, candidate) ? undefined : held;
  if (dueAt(own) <= now) return { apply: candidate, ...(others && { next: others }) };
  if (others === undefined) return { next: own };
  return heldIsDue ? { apply: toCandidate(others), next: own } : { next: others };
}

function startWait(image: Candidate, { minAgeMs, status, now }: Omit<PendingInput, 'candidate' | 'pending'>): PendingCandidate {
  const { tag, digest } = image;
  // Rounded up, so that the wait is over at that time.
  const since = Math.ceil((firstSight(image, status, minAgeMs) ?? now) / 1_000) * 1_000;
  const until = Math.ceil((since + minAgeMs) / 1_000) * 1_000;
  const times = { since: toSeconds(new Date(since)), until: toSeconds(new Date(until)) };
  return { tag, ...(digest !== undefined && { digest }), ...times, reason: 'MinAge' };
}

/** In ms since 1970; undefined for a digest that was never seen. */
function firstSight({ digest }: Candidate, { waiting, latest, history = [] }: PendingInput['status'], minAgeMs: number): number | undefined {
  if (digest === undefined) return undefined;
  const times = [
    ...(isPending(waiting) && waiting.digest === digest
      ? [waiting.since === undefined ? Date.parse(waiting.until) - minAgeMs : Date.parse(waiting.since)]
      : []),
    ...(latest?.digest === digest ? [Date.parse(latest.selectedAt)] : []),
    // An image that was applied had reached the minimum age by then.
    ...history.filter((entry) => entry.digest === digest).map(({ at }) => Date.parse(at) - minAgeMs),
  ].filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : Math.min(...times);
}

function dueAt({ until }: Waiting): number {
  return Date.parse(until);
}

function toCandidate({ tag, digest }: PendingCandidate): Candidate {
  return { tag, ...(digest !== undefined && { digest }) };
}
