/** A record of activity in memory. */
import type { ReadActivities } from '../../src/activity/list-activity.ts';
import type { Activity } from '../../src/core/model/activity.ts';
import { eventTime } from '../service/api/fake-events.ts';

/** The time so many seconds after noon; RFC 3339. */
export const timeAt = (seconds: number) => new Date(eventTime + seconds * 1_000).toISOString();

/** Reads these activities, the newest of which is the first, page by page as from Redis. */
export function readFrom(activities: readonly Activity[]): ReadActivities {
  const entries = activities.map((activity) => ({ id: `${Date.parse(activity.at)}-0`, activity }));
  return ({ before, count }) => {
    const rest = entries.filter(({ id }) => before === undefined || Number(id.split('-')[0]) < Number(before.split('-')[0]));
    const found = rest.slice(0, count);
    return Promise.resolve({ found, ...(found.length === count && { last: found.at(-1)?.id ?? '' }) });
  };
}
