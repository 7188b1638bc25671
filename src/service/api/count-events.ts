/** Counts the pushes since a time, as far as the event log is read. */
import type { Access } from './access.ts';
import type { EventOutcome } from './event-view.ts';
import { listEvents, type EventPorts } from './events.ts';

const pageSize = 500;
/** How many pages of events are read; each is a request to Redis. */
const maxPages = 4;

export interface EventCounts {
  readonly since: string;
  readonly byOutcome: Readonly<Record<string, number>>;
  /** Whether all events since the time were read. */
  readonly isComplete: boolean;
  /** The time from the receipt of a push to its last result. */
  readonly toResult?: { readonly p50Ms: number; readonly p90Ms: number; readonly count: number };
}

/** Counts the events that the caller may see; with a namespace, the events of its policies. */
export async function countEvents(
  ports: EventPorts,
  access: Access,
  { since, namespace }: { readonly since: number; readonly namespace?: string | undefined },
): Promise<EventCounts> {
  const byOutcome = new Map<EventOutcome, number>();
  const times: number[] = [];
  let before: Parameters<typeof listEvents>[2]['before'];
  let isComplete = false;
  for (let page = 0; page < maxPages && !isComplete; page++) {
    // Counts of what was read before would be taken for those of now.
    const { events, next } = await listEvents({ reader: ports.reader, turns: ports.turns }, access, {
      limit: pageSize,
      since,
      before,
      namespace,
    });
    for (const { outcome, reason, policies } of events) {
      // A pull, a scan or a deletion is no push.
      if (outcome === 'ignored' && reason === 'OtherEvent') continue;
      const own = namespace === undefined ? policies : policies.filter((policy) => policy.namespace === namespace);
      if (namespace !== undefined && own.length === 0) continue;
      byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + 1);
      for (const { outcome: result, afterMs } of own) if (result === 'updated' && afterMs !== undefined) times.push(afterMs);
    }
    isComplete = next === undefined;
    before = next;
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return {
    since: new Date(since).toISOString(),
    byOutcome: Object.fromEntries(byOutcome),
    isComplete,
    ...(times.length > 0 && { toResult: { p50Ms: at(0.5), p90Ms: at(0.9), count: times.length } }),
  };
}
