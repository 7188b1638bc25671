import type { RedisConnection } from '../queue/connection.ts';
import { describeError } from '../model/errors.ts';
import type { PollPorts } from '../poll/process-poll.ts';
import { createTraceMemory, type TracedChange } from '../queue/trace-memory.ts';
import type { Foundation } from './foundation.ts';
import { type JobRunner, runDirectly, traceJobs } from './trace-jobs.ts';
import { tracePorts } from './trace-ports.ts';

/** Adds traces to the ports and to the runner of jobs, if traces are on. `redis` must be a connection that fails fast, so that no job waits for a trace. */
export function traceWork(
  ports: PollPorts,
  { settings, logger, tracing }: Foundation,
  redis: RedisConnection,
): { readonly ports: PollPorts; readonly runner: JobRunner } {
  if (tracing === undefined) return { ports, runner: runDirectly(ports) };
  const memory = createTraceMemory(redis, settings.config.redis.prefix);
  const onError = (error: unknown) => logger.debug({ why: describeError(error) }, 'trace memory error');
  // Several workloads are patched in one trace, which is stored once.
  let last = '';
  const remember = (policyUid: string, change: TracedChange) => {
    const key = `${policyUid} ${change.traceparent}`;
    if (key === last) return;
    last = key;
    memory.remember(policyUid, change).catch(onError);
  };
  const recall = async (policyUid: string) => {
    try {
      // A single timeout is no outage, so it is retried once.
      return await memory.recall(policyUid).catch(() => memory.recall(policyUid));
    } catch (error) {
      onError(error);
      return undefined;
    }
  };
  const traced = tracePorts(ports, tracing, remember);
  return { ports: traced, runner: traceJobs(traced, tracing, recall) };
}
