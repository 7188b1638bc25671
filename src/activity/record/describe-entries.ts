/** Makes the facts of the record of what waits in the outbox. */
import { formatSubject } from '../../core/model/notice.ts';
import { viewEvent, type EventView } from '../../service/api/event-view.ts';
import type { OutboxEntry } from '../../service/queue/outbox.ts';
import type { EventReader } from '../../service/queue/read-events.ts';
import type { Fact } from './chain.ts';

/** How much a segment has at most, and how much of the policies of one push is kept, in characters. */
const maxSegment = 4 * 1_048_576;
const maxPolicies = 512 * 1_024;

/** Creates the function that describes entries, until a segment is full. Pushes are as they are when they are described. */
export function createDescriber(readEvent: EventReader['get']): (entries: readonly OutboxEntry[]) => Promise<Fact[]> {
  return async (entries) => {
    const facts: Fact[] = [];
    let size = 0;
    for (const entry of entries) {
      const fact = await describeOne(entry, readEvent);
      facts.push(fact);
      size += JSON.stringify(fact).length;
      if (size > maxSegment) break;
    }
    return facts;
  };
}

async function describeOne(entry: OutboxEntry, readEvent: EventReader['get']): Promise<Fact> {
  const { id } = entry;
  const time = new Date(Number(id.split('-')[0])).toISOString();
  if ('activity' in entry) {
    const { activity } = entry;
    return {
      id,
      type: activity.type,
      time: activity.at,
      subject: `${activity.subject.kind}/${formatSubject(activity.subject)}`,
      data: activity,
    };
  }
  if ('lost' in entry) return { id, type: 'lost', time, subject: 'record', data: { count: entry.lost } };
  const record = await readEvent(entry.push);
  const push = record && viewEvent(record, undefined);
  // The record of a push is kept for seven days.
  if (push === undefined) return { id, type: 'lost', time, subject: `Push/${entry.push}`, data: { count: 1 } };
  return { id, type: 'push', time, subject: `Push/${push.id}`, data: { type: 'push', at: push.receivedAt, ...shorten(push) } };
}

/** A push with as many of its policies as there is room for. */
function shorten(push: EventView): { readonly push: EventView; readonly hasMore?: true } {
  let size = 0;
  const policies = push.policies.filter((policy) => (size += JSON.stringify(policy).length) <= maxPolicies);
  return policies.length === push.policies.length ? { push } : { push: { ...push, policies }, hasMore: true };
}
