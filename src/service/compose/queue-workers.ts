/** The workers of the queues `push`, `policy`, `check` and `poll`. */
import type { Turns } from '../../core/async/turns.ts';
import { processPoll, type PollPorts } from '../poll/process-poll.ts';
import { createTick } from '../poll/tick.ts';
import type { PolicyJob, PollJob, PushJob, ScanJob } from '../queue/jobs.ts';
import type { QueueAccess, TickJob } from '../queue/producer.ts';
import { readPolicyJob, readPollQueueJob, readPushJob } from '../queue/read-job.ts';
import type { JobSpans } from '../queue/job-spans.ts';
import { createWorker, type QueueWorker } from '../queue/worker.ts';
import type { AskCheck } from '../reconcile/checks/check-request.ts';
import { askOnce } from '../reconcile/checks/ask-once.ts';
import { processPush } from '../reconcile/process-push.ts';
import { processScan } from '../reconcile/process-scan.ts';
import { processTask } from '../reconcile/process-task.ts';

/** The number of concurrent jobs per queue: high enough that hundreds of images are changed before the first status is written. */
const concurrency = { push: 256, policy: 256, poll: 32, check: 32 } as const;
/** The longest pause between the attempts of a failed poll, unless its interval is shorter. */
const longestPollPauseMs = 3_600_000;

/** The means of the workers. */
interface QueueWorkerOptions {
  readonly access: QueueAccess;
  /** How the same process stores pushes. */
  readonly storedOn: QueueAccess | undefined;
  readonly spans: JobSpans | undefined;
  readonly askCheck: AskCheck;
  readonly turns: Turns;
}

/** Builds the workers, the one of the pushes first; they are not started. */
export function createQueueWorkers(
  ports: PollPorts,
  { access, storedOn, spans, askCheck, turns }: QueueWorkerOptions,
): [pushes: QueueWorker, ...QueueWorker[]] {
  const tick = createTick(ports);
  const common = { access, now: Date.now, random: Math.random };
  return [
    createWorker<PushJob>({
      ...common,
      queue: 'push',
      concurrency: concurrency.push,
      storedOn,
      read: readPushJob,
      process: (job, context) => turns.first(() => processPush(job, context, ports)),
      inSpan: spans?.push,
    }),
    createWorker<PolicyJob>({
      ...common,
      queue: 'policy',
      concurrency: concurrency.policy,
      read: readPolicyJob,
      process: (job, context) => turns.first(() => processTask(job, context, ports)),
      inSpan: spans?.policy,
    }),
    createWorker<PolicyJob>({
      ...common,
      queue: 'check',
      // Endpoints of tenants may be slow, and pushes must not wait for them.
      concurrency: concurrency.check,
      read: readPolicyJob,
      process: (job, { signal }) => askOnce(job, { ...ports, askCheck }, signal),
    }),
    createWorker<PollJob | ScanJob | TickJob>({
      ...common,
      queue: 'poll',
      concurrency: concurrency.poll,
      read: readPollQueueJob,
      process(job, context) {
        if ('scanned' in job) return processScan(job, context, ports);
        return 'repository' in job ? processPoll(job, context, ports) : tick();
      },
      inSpan: spans?.poll,
      longestPauseMs: (job) => Math.min('intervalMs' in job ? job.intervalMs : longestPollPauseMs, longestPollPauseMs),
    }),
  ];
}
