/**
 * Decides which image may be applied now and which one waits, where images must reach a minimum age. The pending candidate stays pending, however many newer
 * ones arrive: they start to wait once it is applied. Frequent pushes therefore delay an update, but never starve it.
 *
 * | the candidate of this reconcile | nothing is pending | another one is pending  | the pending one is due                         |
 * | ------------------------------- | ------------------ | ----------------------- | ---------------------------------------------- |
 * | would change nothing            | as it is           | the other stays pending | apply the pending one                          |
 * | has been known long enough      | apply it           | apply the candidate     | apply the candidate                            |
 * | is too young                    | it becomes pending | the other stays pending | apply the pending one, then it becomes pending |
 *
 * A pending candidate of which only the digest is to be written, because the workload names its tag, makes way for another one that is too young: that one would
 * otherwise wait twice as long.
 *
 * An image for which the policy makes an exception (`minAgeUnless`) counts as known long enough, whether it is the candidate or the pending one. If the other
 * one is due as well, it stays pending, and the job of its wait applies it next if it is newer.
 */
import { isSameWhole } from '../model/companions.ts';
import { defined } from '../model/defined.ts';
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
  /** The status, which records when a digest was first seen. */
  readonly status: Pick<PolicyStatus, 'waiting' | 'latest' | 'history'>;
  /** Whether applying the candidate would change anything. */
  readonly isWanted: (candidate: Candidate) => boolean;
  /** Whether applying the candidate would only write the digest of a tag that runs. */
  readonly onlyPins?: (candidate: Candidate) => boolean;
  /** Whether an image need not reach the minimum age; no image, if absent. */
  readonly isExempt?: (candidate: Candidate) => boolean;
  readonly now: number;
}

/** The candidate to plan now, if any, and the pending candidate afterwards, if it is still wanted then. */
export interface PendingDecision {
  readonly apply?: Candidate;
  /** Whether the candidate to plan now is younger than the minimum age. */
  readonly isEarly?: true;
  readonly next?: PendingCandidate;
}

/** Decides which candidate may be applied now and which one is pending afterwards. */
export function decidePending({ candidate, pending, ...input }: PendingInput): PendingDecision {
  const { isWanted, onlyPins = () => false, isExempt = () => false, now } = input;
  const isOldEnough = (wait: PendingCandidate) => dueAt(wait) <= now;
  const isDue = (wait: PendingCandidate) => isOldEnough(wait) || isExempt(wait);
  const begin = (image: Candidate, wait: PendingCandidate) => ({ apply: image, ...(!isOldEnough(wait) && ({ isEarly: true } as const)) });
  const held = pending !== undefined && isWanted(pending) ? startWait(pending, input) : undefined;
  if (!isWanted(candidate))
    return held !== undefined && isDue(held) ? begin(toCandidate(held), held) : { apply: candidate, ...defined({ next: held }) };
  const own = startWait(candidate, input);
  const others = held === undefined || isSameImage(held, candidate) ? undefined : held;
  if (isDue(own)) return { ...begin(candidate, own), ...defined({ next: others }) };
  if (others === undefined) return { next: own };
  if (isDue(others)) return { ...begin(toCandidate(others), others), next: own };
  return { next: onlyPins(others) ? own : others };
}

function startWait(image: Candidate, { minAgeMs, status, now }: Omit<PendingInput, 'candidate' | 'pending'>): PendingCandidate {
  const { tag, digest, setDigest } = image;
  // Rounded up, so that the wait is over at the time that is shown.
  const since = Math.ceil((firstSight(image, status, minAgeMs) ?? now) / 1_000) * 1_000;
  const until = Math.ceil((since + minAgeMs) / 1_000) * 1_000;
  const times = { since: toSeconds(new Date(since)), until: toSeconds(new Date(until)) };
  return { tag, ...defined({ digest, setDigest }), ...times, reason: 'MinAge' };
}

/** When a digest was first seen, in ms since 1970; undefined for an unknown digest. */
function firstSight(
  { digest, setDigest }: Candidate,
  { waiting, latest, history = [] }: PendingInput['status'],
  minAgeMs: number,
): number | undefined {
  if (digest === undefined) return undefined;
  const isSame = (one: Pick<Candidate, 'digest' | 'setDigest'>) => isSameWhole(one, { ...defined({ digest, setDigest }) });
  const times = [
    ...(isPending(waiting) && isSame(waiting)
      ? [waiting.since === undefined ? Date.parse(waiting.until) - minAgeMs : Date.parse(waiting.since)]
      : []),
    ...(latest !== undefined && isSame(latest) ? [Date.parse(latest.selectedAt)] : []),
    // An image that was applied had reached the minimum age at that time.
    ...history.filter(isSame).map(({ at }) => Date.parse(at) - minAgeMs),
  ].filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Until when the current spec makes a pending candidate wait; undefined if it does not. Waits for other reasons are unchanged. */
export function waitsUntil({ reason, since, until }: PendingCandidate, { minAgeMs, windows }: PolicySpec, now: Date): Date | undefined {
  const opening = reason === 'Window' ? nextOpening(windows, now)?.getTime() : undefined;
  // If no window opens within the horizon, the wait is the end of the horizon, which moves with the clock.
  const isFar = opening !== undefined && opening - now.getTime() >= horizonMs;
  if (reason === 'Window' && !isFar) return roundUp(opening);
  if (reason !== 'MinAge' || since === undefined) return new Date(until);
  return minAgeMs === undefined ? undefined : roundUp(Date.parse(since) + minAgeMs);
}

/** Rounds up to a second, so that the wait is over at the time that is shown. */
function roundUp(time: number | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(Math.ceil(time / 1_000) * 1_000);
}

function dueAt({ until }: Waiting): number {
  return Date.parse(until);
}

function toCandidate({ tag, digest, setDigest }: PendingCandidate): Candidate {
  return { tag, ...defined({ digest, setDigest }) };
}

/** Whether a wait is that of a pending candidate. */
export function isPending(waiting: Waiting | undefined): waiting is PendingCandidate {
  return waiting?.tag !== undefined && isWaitReason(waiting.reason);
}

/** A pending candidate. */
export type PendingCandidate = Waiting & { readonly tag: string; readonly reason: WaitReason };

/** The pending candidate at the start of a reconcile, and the one after it. */
export interface PendingChange {
  readonly seen?: Waiting;
  readonly next?: PendingCandidate;
  /** Why the policy makes no exception for `next` (`minAgeUnless`, `windowsUnless`); absent if it has none for this wait. */
  readonly kept?: string;
}

/**
 * The pending candidate after a result: that of the reconcile, unless another replica replaced it in the meantime. If the reconcile did not evaluate it, it is
 * unchanged. `selected` is the current selection. If a guard delays it, it replaces the one that another replica found to be delayed.
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

/** Describes a wait for conditions, Events and audit records. The text is the same for the same wait. `seen`: images whose companions may be missing. `kept`: why no exception is made. */
export function describeWaiting(
  { tag, digest, until, reason }: Waiting,
  seen: readonly (Pick<Candidate, 'tag' | 'digest'> & { readonly missing: readonly string[] })[] = [],
  kept?: string,
): string {
  const missing = seen.find((one) => one.tag === tag && one.digest === digest)?.missing ?? [];
  if (reason === 'CompanionMissing' && missing.length > 0)
    return `${tag} waits for ${missing.join(' and ')}, which the registry does not hold; it is passed over at ${until}`;
  const why = isWaitReason(reason) ? `, ${waitReasons[reason]}` : '';
  const waits = `${tag ?? 'what is selected'} waits until ${until}${why}`;
  return kept === undefined ? waits : `${waits}; it does not skip that wait: ${kept}`;
}

/** Whether two images have the same tag, the same digest and the same companions. */
export function isSameImage(a: Candidate | Waiting, b: Candidate | Waiting): boolean {
  return a.tag === b.tag && isSameWhole(a, b);
}

function isSameWait(a: Waiting, b: Waiting | undefined): boolean {
  return b !== undefined && isSameImage(a, b) && a.until === b.until && a.reason === b.reason;
}

/** The earliest time at which blocked changes of a plan may proceed; all of them are then evaluated again. `before`: the previous wait. */
export function guardWait({ candidate, targets }: UpdatePlan, before: Waiting | undefined, now: Date): PendingCandidate | undefined {
  const waits = targets.flatMap(({ blocked = [] }) => blocked.flatMap((one) => (one.kind === 'waits' ? [one] : [])));
  const [first] = waits.toSorted((a: Wait, b: Wait) => a.until.getTime() - b.until.getTime());
  if (first === undefined) return undefined;
  const { tag, digest, setDigest } = candidate;
  // The age of an image keeps counting while it waits for something else.
  const since = before !== undefined && isSameImage(before, candidate) ? before.since : undefined;
  // Rounded up, so that the wait is over at the time that is shown.
  const until = new Date(Math.ceil(first.until.getTime() / 1_000) * 1_000);
  return { tag, ...defined({ digest, setDigest }), since: since ?? toSeconds(now), until: toSeconds(until), reason: first.reason };
}

type Wait = Extract<Blocked, { readonly kind: 'waits' }>;
