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
import type { PolicySpec } from '../model/image-policy.ts';
import type { PolicyStatus, Waiting } from '../model/policy-status.ts';
import { toSeconds } from '../model/text.ts';
import { horizonMs, nextOpening } from './next-opening.ts';
import type { Blocked, UpdatePlan } from './plan-update.ts';
import { isWaitReason, waitReasons, type WaitReason } from './wait-reasons.ts';

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
function firstSight(
  { digest }: Candidate,
  { waiting, latest, history = [] }: PendingInput['status'],
  minAgeMs: number,
): number | undefined {
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

/** Until when the spec, as it is now, makes a pending candidate wait; undefined if it does not. Waits for anything else are as they are. */
export function waitsUntil({ reason, since, until }: PendingCandidate, { minAgeMs, windows }: PolicySpec, now: Date): Date | undefined {
  const opening = reason === 'Window' ? nextOpening(windows, now)?.getTime() : undefined;
  // Within the horizon no window opens, and the end of the horizon moves with the clock.
  const isFar = opening !== undefined && opening - now.getTime() >= horizonMs;
  if (reason === 'Window' && !isFar) return roundUp(opening);
  if (reason !== 'MinAge' || since === undefined) return new Date(until);
  return minAgeMs === undefined ? undefined : roundUp(Date.parse(since) + minAgeMs);
}

/** To a second, so that the wait is over at that time. */
function roundUp(time: number | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(Math.ceil(time / 1_000) * 1_000);
}

function dueAt({ until }: Waiting): number {
  return Date.parse(until);
}

function toCandidate({ tag, digest }: PendingCandidate): Candidate {
  return { tag, ...(digest !== undefined && { digest }) };
}

/** Whether this is a pending candidate. */
export function isPending(waiting: Waiting | undefined): waiting is PendingCandidate {
  return waiting?.tag !== undefined && isWaitReason(waiting.reason);
}

/** A pending candidate. */
export type PendingCandidate = Waiting & { readonly tag: string; readonly reason: WaitReason };

/** The pending candidate at the start of a reconcile, and the one after it. */
export interface PendingChange {
  readonly seen?: Waiting;
  readonly next?: PendingCandidate;
}

/**
 * The pending candidate after a result: that of the reconcile, unless another replica replaced it in the meantime. If the reconcile did not evaluate it, it is
 * unchanged. `selected`: what the policy selects by now; where a guard delays that, it replaces what another replica found to be delayed.
 */
export function nextPending(
  current: Waiting | undefined,
  pending: PendingChange | undefined,
  selected?: Candidate,
): PendingCandidate | undefined {
  const unchanged = isPending(current) ? current : undefined;
  if (pending === undefined) return unchanged;
  const { seen, next } = pending;
  if (unchanged === undefined || isSameWait(unchanged, seen)) return next;
  const isDelayed = next !== undefined && selected !== undefined && next.reason !== 'MinAge' && isSameImage(next, selected);
  return isDelayed ? next : unchanged;
}

/** For conditions, Events and audit records; the same text for the same wait. */
export function describeWaiting({ tag, until, reason }: Waiting): string {
  const why = isWaitReason(reason) ? `, ${waitReasons[reason]}` : '';
  return `${tag ?? 'what is selected'} waits until ${until}${why}`;
}

/** Whether both are the same tag with the same digest. */
export function isSameImage(a: Candidate | Waiting, b: Candidate | Waiting): boolean {
  return a.tag === b.tag && a.digest === b.digest;
}

function isSameWait(a: Waiting, b: Waiting | undefined): boolean {
  return b !== undefined && isSameImage(a, b) && a.until === b.until && a.reason === b.reason;
}

/** The earliest time at which blocked changes of a plan may proceed; all of them are then evaluated again. `before`: the previous wait. */
export function guardWait({ candidate, targets }: UpdatePlan, before: Waiting | undefined, now: Date): PendingCandidate | undefined {
  const waits = targets.flatMap(({ blocked = [] }) => blocked.flatMap((one) => (one.kind === 'waits' ? [one] : [])));
  const [first] = waits.toSorted((a: Wait, b: Wait) => a.until.getTime() - b.until.getTime());
  if (first === undefined) return undefined;
  const { tag, digest } = candidate;
  // The age of an image keeps counting while it waits for something else.
  const since = before !== undefined && isSameImage(before, candidate) ? before.since : undefined;
  // Rounded up, so that the wait is over at that time.
  const until = new Date(Math.ceil(first.until.getTime() / 1_000) * 1_000);
  return { tag, ...(digest !== undefined && { digest }), since: since ?? toSeconds(now), until: toSeconds(until), reason: first.reason };
}

type Wait = Extract<Blocked, { readonly kind: 'waits' }>;
