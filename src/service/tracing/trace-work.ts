import type { RedisConnection } from '../queue/connection.ts';
import { describeError } from '../../core/model/errors.ts';
import type { PollPorts } from '../poll/process-poll.ts';
import type { JobQueue, Workloads } from '../reconcile/ports.ts';
import { createTraceMemory, type TracedChange } from '../queue/trace-memory.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type JobRunner, runDirectly, traceJobs } from './trace-jobs.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { traceDecisions } from './trace-decisions.ts';

/** Adds traces to ports, and to the runner of jobs. */
export interface WorkTraces {
  readonly ports: <T extends TracedPorts>(ports: T) => T;
  readonly runner: (ports: PollPorts) => JobRunner;
}

/** The dependencies of the traces; `tracing` is absent if they are off. */
export interface WorkTracing {
  readonly settings: { readonly config: { readonly redis: { readonly prefix: string } } };
  readonly logger: Pick<Logger, 'debug'>;
  readonly tracing?: Tracing | undefined;
}

/** The ports that traces are added to. */
type TracedPorts = Pick<PollPorts, 'workloads' | 'signatures' | 'queues' | 'report'>;

/** Opens the traces of jobs; without tracing, nothing is changed. `redis` must be a connection that fails fast, so that no job waits for a trace. */
export function openWorkTraces({ settings, logger, tracing }: WorkTracing, redis: RedisConnection): WorkTraces {
  if (tracing === undefined) return { ports: (ports) => ports, runner: runDirectly };
  const memory = createTraceMemory(redis, settings.config.redis.prefix);
  const onError = (error: unknown) => logger.debug({ why: describeError(error) }, 'trace memory error');
  // The last stored trace. Several workloads are patched in one trace, which is stored once.
  let last = '';
  const remember = (policyUid: string, change: TracedChange) => {
    const key = `${policyUid} ${change.traceparent}`;
    if (key === last) return;
    last = key;
    memory.remember(policyUid, change).catch(onError);
  };
  const recall = async (policyUid: string) => {
    try {
      // A single timeout is no outage, so the read is retried once.
      return await memory.recall(policyUid).catch(() => memory.recall(policyUid));
    } catch (error) {
      onError(error);
      return undefined;
    }
  };
  return { ports: (ports) => tracePorts(ports, tracing, remember), runner: (ports) => traceJobs(ports, tracing, recall) };
}

/** Stores the trace of a policy's newest change, in the background. Must not throw. */
type RememberChange = (policyUid: string, change: TracedChange) => void;

/** Wraps the ports so that requests and decisions become spans and events of the current job. */
export function tracePorts<T extends TracedPorts>(ports: T, tracing: Tracing, remember: RememberChange): T {
  const { workloads, signatures, queues } = ports;
  const patchImages: Workloads['patchImages'] = (workload, changes, ...rest) => {
    // Only the traces of workloads that roll out are stored, because others are never checked later.
    const policyUid = workload.rollout && changes.find(({ update }) => update !== undefined)?.update?.policy;
    const traceparent = tracing.current();
    // The trace is stored before the patch, because another replica may see the rollout before this one has the response.
    if (policyUid !== undefined && traceparent !== undefined) remember(policyUid, { traceparent, at: Date.now() });
    return workloads.patchImages(workload, changes, ...rest);
  };
  const addPolicyJobs: JobQueue['addPolicyJobs'] = (jobs) => {
    const attributes = {
      'messaging.system': 'bullmq',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'policy',
      'messaging.batch.message_count': jobs.length,
    };
    return tracing.step({ name: 'send policy', kind: 'producer', attributes }, () => {
      const traceparent = tracing.current();
      // Jobs that check rollouts carry no trace, because they find the trace of their change by `RecallChange`.
      return queues.addPolicyJobs(
        traceparent === undefined ? jobs : jobs.map((job) => (job.task === 'rollout' ? job : { ...job, traceparent })),
      );
    });
  };
  return {
    ...ports,
    workloads: { ...workloads, patchImages },
    signatures: { verify: (...request) => tracing.step({ name: 'verify signatures' }, () => signatures.verify(...request)) },
    queues: { ...queues, addPolicyJobs },
    report: { ...ports.report, observer: traceDecisions(tracing) },
  };
}
