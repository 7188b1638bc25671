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
 * The push that made a policy select an image which it applies later, because it had to wait; undefined if another cause did, or if that is not known any more.
 * What was applied before and is changed back for another cause than a wait, such as a workload that somebody has changed, is not the push's any more.
 */
export function selectingPush(
  { latest, trigger, history = [] }: Pick<PolicyStatus, 'latest' | 'trigger' | 'history'>,
  { tag, digest }: Pick<Candidate, 'tag' | 'digest'>,
  cause: TriggerSource | undefined,
): string | undefined {
  if (latest === undefined || trigger?.event === undefined || latest.tag !== tag || latest.digest !== digest) return undefined;
  if (cause !== 'WaitOver' && history.some((entry) => entry.tag === tag && entry.digest === digest)) return undefined;
  const selected = Date.parse(latest.selectedAt);
  const isLater = selected >= Date.parse(trigger.receivedAt ?? trigger.handledAt) - maxClockDifferenceMs;
  return isLater && selected <= Date.parse(trigger.handledAt) + maxClockDifferenceMs ? trigger.event : undefined;
}
