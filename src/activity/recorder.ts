/** Records activities without holding up what they are about. */
import { within } from '../core/async/deadline.ts';
import type { IdentifiedActivity } from '../core/model/activity.ts';
import { describeError } from '../core/model/errors.ts';
import type { Logger } from '../service/telemetry/logger.ts';

/** Resolves when the activities are recorded, or after a second: a status is written even if Redis does not answer. Never rejects. */
export type RecordActivities = (activities: readonly IdentifiedActivity[]) => Promise<void>;

const withinMs = 1_000;
/** How many activities wait for Redis at most. What exceeds that is not recorded, so that an outage takes no memory. */
export const maxWaiting = 1_000;

export function createRecorder(write: (activity: IdentifiedActivity) => Promise<void>, logger: Pick<Logger, 'warn'>): RecordActivities {
  let waiting = 0;
  const lose = (why: string, count: number) => logger.warn({ why, count }, 'activity not recorded');
  return async (activities) => {
    if (activities.length === 0) return;
    if (waiting + activities.length > maxWaiting) return lose(`${waiting} activities wait for Redis`, activities.length);
    waiting += activities.length;
    const written = Promise.all(activities.map(write))
      .catch((error: unknown) => lose(describeError(error), activities.length))
      .finally(() => (waiting -= activities.length));
    await within(withinMs, written);
  };
}
