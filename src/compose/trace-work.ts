import type { RedisConnection } from '../queue/connection.ts';
import { describeError } from '../model/errors.ts';
import type { PollPorts } from '../poll/process-poll.ts';
import { createTraceMemory, type TracedChange } from '../queue/trace-memory.ts';
import type { Foundation } from './foundation.ts';
import { type JobRunner, runDirectly, traceJobs } from './trace-jobs.ts';
import { tracePorts } from './trace-ports.ts';

/** The ports and what is around each job: traced where traces are on, else as they are. `redis` fails fast: no trace holds up the work. */
export function traceWork(
  ports: PollPorts,
  { settings, logger, tracing }: Foundation,
  redis: RedisConnection,
): { readonly ports: PollPorts; readonly runner: JobRunner } {
  if (tracing === undefined) return { ports, runner: runDirectly(ports) };
  const memory = createTraceMemory(redis, settings.config.redis.prefix);
  const onError = (error: unknown) => logger.debug({ why: describeError(error) }, 'trace memory error');
  // All workloads of one check belong to the same trace.
  let last = '';
  const remember = (policyUid: string, change: TracedChange) => {
    const key = `${policyUid} ${change.traceparent}`;
    if (key === last) return;
    last = key;
    memory.remember(policyUid, change).catch(onError);
  };
  const recall = async (policyUid: string) => {
    try {
      // One late answer is no outage.
      return await memory.recall(policyUid).catch(() => memory.recall(policyUid));
    } catch (error) {
      onError(error);
      return undefined;
    }
  };
  const traced = tracePorts(ports, tracing, remember);
  return { ports: traced, runner: traceJobs(traced, tracing, recall) };
}
