/** Which trigger caused a change, as far as the status still knows. */
import type { Candidate } from './image-reference.ts';
import type { HistoryEntry, PolicyStatus, TriggerSource } from './policy-status.ts';

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
 * What was applied before and is changed back for another cause than a wait, such as a workload that somebody has changed, is not the push's any more.
 */
export function selectingPush(
  {
    latest,
    waiting,
    refused,
    announced,
    trigger,
    history = [],
  }: Pick<PolicyStatus, 'latest' | 'waiting' | 'refused' | 'announced' | 'trigger' | 'history'>,
  { tag, digest }: Pick<Candidate, 'tag' | 'digest'>,
  cause: TriggerSource | undefined,
): string | undefined {
  const isIt = (one: { readonly tag?: string; readonly digest?: string } | undefined) => one?.tag === tag && one.digest === digest;
  // An image that waits for its age is not selected yet.
  const since = isIt(latest) ? latest?.selectedAt : isIt(waiting) ? waiting?.since : undefined;
  if (since === undefined && !isIt(refused)) return undefined;
  if (cause !== 'WaitOver' && history.some((entry) => entry.tag === tag && entry.digest === digest)) return undefined;
  if (isIt(announced)) return announced?.event;
  if (since === undefined || trigger?.event === undefined) return undefined;
  const selected = Date.parse(since);
  const isLater = selected >= Date.parse(trigger.receivedAt ?? trigger.handledAt) - maxClockDifferenceMs;
  return isLater && selected <= Date.parse(trigger.handledAt) + maxClockDifferenceMs ? trigger.event : undefined;
}

/** The image that the policy has found and that may have to wait, or that it is Stalled because of, and the push that has brought it; undefined if no push is known to have. */
export function awaitedPush(
  status: PolicyStatus,
): { readonly image: Pick<Candidate, 'tag' | 'digest'>; readonly event: string } | undefined {
  for (const image of [status.waiting, status.refused, status.latest]) {
    if (image?.tag === undefined) continue;
    const { tag, digest } = image;
    const found = { tag, ...(digest !== undefined && { digest }) };
    const event = selectingPush(status, found, undefined);
    if (event !== undefined) return { image: found, event };
  }
  return undefined;
}
