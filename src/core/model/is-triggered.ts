/** Which trigger caused a change, as far as the status still knows. */
import type { Candidate } from './image-reference.ts';
import type { HistoryEntry, PolicyStatus, TriggerSource } from './policy-status.ts';
import { isWaveWait } from './wave-wait.ts';

/** The maximum difference between the clocks of receivers and workers. */
const maxClockDifferenceMs = 1_000;

/** Whether the trigger in the status caused a change: to the image of the newest one, between its receipt and its report. Other triggers are not known any more. */
export function isTriggered({ trigger, history = [] }: PolicyStatus, { at, tag, digest, trigger: source }: HistoryEntry): boolean {
  const [newest] = history;
  if (trigger === undefined || trigger.source !== source || newest?.tag !== tag || newest.digest !== digest) return false;
  const changed = Date.parse(at);
  const isLater = changed >= Date.parse(trigger.receivedAt ?? trigger.handledAt) - maxClockDifferenceMs;
  return isLater && changed <= Date.parse(trigger.handledAt) + maxClockDifferenceMs;
}

/**
 * The push of an image that a policy has selected and applies later, because it had to wait: the one that made the policy select it, or the first one that announced
 * it afterwards. Undefined if none has, or if that is not known any more.
 * What was applied before and is changed back for another cause than a wait, such as a workload that somebody has changed, is not the push's any more. The next wave
 * of an image is, whatever begins it.
 */
export function selectingPush(
  { latest, waiting, announced, trigger, history = [] }: PolicyStatus,
  { tag, digest }: Candidate,
  cause: TriggerSource | undefined,
): string | undefined {
  const isIt = (one: { readonly tag?: string; readonly digest?: string } | undefined) => one?.tag === tag && one.digest === digest;
  const isNextWave = cause !== undefined && isIt(waiting) && isWaveWait(waiting);
  if (cause !== 'WaitOver' && !isNextWave && history.some((entry) => entry.tag === tag && entry.digest === digest)) return undefined;
  // Not every sender says the digest.
  if (announced?.tag === tag && (announced.digest === undefined || announced.digest === digest)) return announced.event;
  // An image that waits for its age is not selected yet.
  const since = isIt(latest) ? latest?.selectedAt : isIt(waiting) ? waiting?.since : undefined;
  if (since === undefined || trigger?.event === undefined) return undefined;
  // The trigger of a change to another image since has replaced that of this one.
  const [newest] = history;
  if (newest !== undefined && !isIt(newest) && history.some(isIt) && isTriggered({ trigger, history }, newest)) return undefined;
  const selected = Date.parse(since);
  const isLater = selected >= Date.parse(trigger.receivedAt ?? trigger.handledAt) - maxClockDifferenceMs;
  return isLater && selected <= Date.parse(trigger.handledAt) + maxClockDifferenceMs ? trigger.event : undefined;
}

/** The push of an image that waits, or that is applied in waves and waits for its next one. */
export function knownPush(status: PolicyStatus, image: Candidate): string | undefined {
  return wavesPush(status, image) ?? selectingPush(status, image, undefined);
}

/** The push of an image that is applied in waves and waits for its next one, whatever begins that. Undefined if it is not known, or for any other image. */
export function wavesPush(status: PolicyStatus, image: Candidate): string | undefined {
  return isInWaves(status, image) ? selectingPush(status, image, 'WaitOver') : undefined;
}

/** Whether an image is applied in waves, and waits for its next one. */
export function isInWaves({ waiting }: PolicyStatus, { tag, digest }: Candidate): boolean {
  return isWaveWait(waiting) && waiting.tag === tag && waiting.digest === digest;
}

/** An image that is not known to be applied or given up, and the push that has brought it. */
export interface AwaitedPush {
  readonly image: Pick<Candidate, 'tag' | 'digest'>;
  readonly event: string;
  /** Whether the image is applied in waves, and waits for its next one. */
  readonly isInWaves: boolean;
}

/** The image that the policy has found and that may have to wait, or that it is Stalled because of, and one that waits behind it, each if a push is known to have brought it. */
export function awaitedPushes(status: PolicyStatus): readonly AwaitedPush[] {
  const found: AwaitedPush[] = [];
  for (const image of [status.waiting, status.refused, status.latest, status.announced]) {
    if (image?.tag === undefined) continue;
    const { tag, digest } = image;
    const candidate = { tag, ...(digest !== undefined && { digest }) };
    const event = knownPush(status, candidate);
    const isNew = event !== undefined && found.every((one) => one.event !== event);
    if (isNew && (found.length === 0 || image === status.announced))
      found.push({ image: candidate, event, isInWaves: isInWaves(status, candidate) });
  }
  return found;
}
