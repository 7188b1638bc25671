import { within } from '../core/async/deadline.ts';
import { activityOf, type IdentifiedActivity } from '../core/model/activity.ts';
import { describeError } from '../core/model/errors.ts';
import { policyNotices } from '../core/status/policy-notices.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import type { ServiceWing } from '../service/compose/wing.ts';
import type { JoinedWing, WorkMeans } from '../service/compose/work-wing.ts';
import { createActivityWriter, readActivities } from '../service/queue/activity-stream.ts';
import { createActivityRoutes } from './routes.ts';

/** The part of the wing in the role `work`, and its route. */
export const service: ServiceWing = {
  work: (foundation) => ({ join: (means) => joinActivity(foundation, means) }),
  routes: createActivityRoutes(undefined),
};

/** How long a write of a status waits until its activity is recorded. The status is written even without an answer of Redis. */
const recordWithinMs = 1_000;

function joinActivity({ logger }: Foundation, { queue, failFastRedis, rewriteNotice }: WorkMeans): JoinedWing {
  const write = createActivityWriter(queue.redis, queue.prefix, Date.now);
  const record = async (activities: readonly IdentifiedActivity[]): Promise<void> => {
    if (activities.length === 0) return;
    const written = Promise.all(activities.map(write)).catch((error: unknown) =>
      logger.warn({ why: describeError(error), count: activities.length }, 'activity not recorded'),
    );
    await within(recordWithinMs, written);
  };
  return {
    onActivity: (activities) => void record(activities),
    notices: {
      async onPolicyStatus(policy, before, after, eventId) {
        const found = policyNotices(policy, { before, after }, new Date().toISOString(), eventId);
        await record(found.flatMap((one) => rewriteNotice(policy, one) ?? []).map(activityOf));
      },
      add: (notices) => record(notices.map(activityOf)),
    },
    work: () => ({
      workers: [],
      routes: createActivityRoutes((of) => readActivities(failFastRedis, queue.prefix, of)),
      watch: () => undefined,
      settled: () => Promise.resolve(),
      start: () => undefined,
      stop: () => Promise.resolve(),
    }),
  };
}
