import type { Repetition } from '../core/async/repeat.ts';
import { activityOf } from '../core/model/activity.ts';
import { policyNotices } from '../core/status/policy-notices.ts';
import { refreshMemory } from '../service/api/recall.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import type { ServiceWing } from '../service/compose/wing.ts';
import type { JoinedWing, WorkMeans } from '../service/compose/work-wing.ts';
import { createActivityWriter, readActivities } from '../service/queue/activity-stream.ts';
import { createKeeper } from './record/keep-record.ts';
import { createRecorder } from './recorder.ts';
import { recallActivities } from './recall-activities.ts';
import { createActivityRoutes } from './routes.ts';

/** How many activities are read now and then for the time when Redis does not answer. */
const recalled = 200;

/** The part of the wing in the role `work`, and its route. */
export const service: ServiceWing = {
  work: (foundation) => ({ join: (means) => joinActivity(foundation, means) }),
  routes: createActivityRoutes(undefined),
};

function joinActivity(foundation: Foundation, means: WorkMeans): JoinedWing {
  const { queue, failFastRedis, rewriteNotice } = means;
  const { redis, prefix } = queue;
  const isKept = foundation.settings.record !== undefined;
  const record = createRecorder(createActivityWriter({ redis, prefix, isKept }, Date.now), foundation.logger);
  return {
    onActivity: (activities) => void record(activities),
    notices: {
      async onPolicyStatus(policy, before, after, eventId) {
        const at = new Date().toISOString();
        const found = policyNotices(policy, { before, after }, at, eventId);
        await record(found.flatMap((one) => rewriteNotice(policy, one) ?? []).map((one) => activityOf(one, at)));
      },
      add: (notices) => record(notices.map((one) => activityOf(one))),
    },
    work() {
      const keeper = createKeeper(foundation, means);
      const read = recallActivities((of) => readActivities(failFastRedis, prefix, of), Date.now);
      let refresh: Repetition | undefined;
      return {
        workers: [],
        routes: createActivityRoutes(read),
        watch: () => undefined,
        settled: () => Promise.resolve(),
        start() {
          refresh = refreshMemory([() => read({ count: recalled })]);
          keeper?.start();
        },
        async stop() {
          await refresh?.stop();
          await keeper?.stop();
        },
      };
    },
  };
}
