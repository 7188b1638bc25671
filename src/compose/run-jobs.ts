import type { PollPorts } from '../poll/process-poll.ts';
import type { PolicyJob, PollJob, PushJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';

/** Does the work of a job, with the ports that it is to have. */
export type RunJob<T> = (job: T, context: JobContext, work: (ports: PollPorts) => Promise<void>) => Promise<void>;

/** What is around the work of a job, by its queue. */
export interface JobRunner {
  readonly push: RunJob<PushJob>;
  readonly policy: RunJob<PolicyJob>;
  readonly poll: RunJob<PollJob>;
}

/** Nothing is around it. */
export function runDirectly(ports: PollPorts): JobRunner {
  const run: RunJob<unknown> = (_job, _context, work) => work(ports);
  return { push: run, policy: run, poll: run };
}
