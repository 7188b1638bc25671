/** The workers of the queues `push`, `policy` and `poll`. */
import { processPoll } from '../poll/process-poll.ts';
import { createTick, type TickPorts } from '../poll/tick.ts';
import type { PolicyJob, PollJob, PushJob } from '../queue/jobs.ts';
import type { QueueAccess, TickJob } from '../queue/producer.ts';
import { readPolicyJob, readPollQueueJob, readPushJob } from '../queue/read-job.ts';
import { createWorker, type QueueWorker } from '../queue/worker.ts';
import { processPush } from '../reconcile/process-push.ts';
import { processTask } from '../reconcile/process-task.ts';
import type { JobRunner } from '../tracing/trace-jobs.ts';

/** The number of concurrent jobs per queue: high enough that hundreds of images are changed before the first status is written. */
const concurrency = { push: 256, policy: 256, poll: 32 } as const;
/** The longest pause between the attempts of a failed poll, unless its interval is shorter. */
const longestPollPauseMs = 3_600_000;

/** Builds the workers, the one of the pushes first; they are not started. `storedOn`: how the same process stores pushes. */
export function createQueueWorkers(
  access: QueueAccess,
  tickPorts: TickPorts,
  runner: JobRunner,
  storedOn: QueueAccess | undefined,
): [pushes: QueueWorker, ...QueueWorker[]] {
  const tick = createTick(tickPorts);
  const common = { access, now: Date.now, random: Math.random };
  return [
    createWorker<PushJob>({
      ...common,
      queue: 'push',
      concurrency: concurrency.push,
      storedOn,
      read: readPushJob,
      process: (job, context) => runner.push(job, context, (ports) => processPush(job, context, ports)),
    }),
    createWorker<PolicyJob>({
      ...common,
      queue: 'policy',
      concurrency: concurrency.policy,
      read: readPolicyJob,
      process: (job, context) => runner.policy(job, context, (ports) => processTask(job, context, ports)),
    }),
    createWorker<PollJob | TickJob>({
      ...common,
      queue: 'poll',
      concurrency: concurrency.poll,
      read: readPollQueueJob,
      process: (job, context) => ('repository' in job ? runner.poll(job, context, (ports) => processPoll(job, context, ports)) : tick()),
      longestPauseMs: (job) => Math.min('intervalMs' in job ? job.intervalMs : longestPollPauseMs, longestPollPauseMs),
    }),
  ];
}
