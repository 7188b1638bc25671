import { policyKey } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { PollPorts } from '../poll/process-poll.ts';
import type { PolicyJob, PollJob, PushJob, QueueName } from '../queue/jobs.ts';
import type { TracedChange } from '../queue/trace-memory.ts';
import type { JobContext } from '../queue/worker.ts';
import type { SpanStart, Tracing } from '../telemetry/tracing.ts';
import { traceRollouts } from './trace-decisions.ts';

/** Returns the change whose rollout is checked; undefined if the change is not known (any more). */
export type RecallChange = (policyUid: string) => Promise<TracedChange | undefined>;

/**
 * Runs jobs as spans, which continue the trace in the job's data or begin a new one. A check of rollouts continues the trace of the change, even if another
 * cause enqueued the check.
 */
export function traceJobs(ports: PollPorts, tracing: Tracing, recall: RecallChange): JobRunner {
  return {
    push: (job, context, work) => tracing.span(pushSpan(job, context), () => work(ports)),
    async policy(job, context, work) {
      if (job.task !== 'rollout') return tracing.span(policySpan('process policy', job, context, job.traceparent), () => work(ports));
      const change = await recall(job.policy.uid);
      const start = policySpan('check rollout', job, context, change?.traceparent);
      const observer = { ...ports.report.observer, ...(change && traceRollouts(change, tracing)) };
      return tracing.span(start, () => work({ ...ports, report: { ...ports.report, observer } }));
    },
    poll: (job, context, work) => tracing.span(pollSpan(job, context), () => work(ports)),
  };
}

function pushSpan(job: PushJob, context: JobContext): SpanStart {
  const attributes = {
    'image_watcher.event': job.id,
    'image_watcher.receiver': job.receiver,
    'container.image.name': formatRepository(job.repository),
    'container.image.tags': [job.tag],
  };
  return jobSpan('push', context, { name: 'process push', attributes, parent: job.traceparent });
}

function policySpan(name: string, { policy, source, eventId }: PolicyJob, context: JobContext, parent: string | undefined): SpanStart {
  const attributes = {
    'image_watcher.policy': policyKey(policy),
    'image_watcher.source': source,
    'k8s.namespace.name': policy.namespace,
    ...(eventId !== undefined && { 'image_watcher.event': eventId }),
  };
  return jobSpan('policy', context, { name, attributes, parent });
}

function pollSpan({ repository }: PollJob, context: JobContext): SpanStart {
  return jobSpan('poll', context, {
    name: 'process poll',
    parent: undefined,
    attributes: { 'container.image.name': formatRepository(repository) },
  });
}

function jobSpan(
  queue: QueueName,
  { jobId, failures }: JobContext,
  { name, attributes: own, parent }: Pick<SpanStart, 'name' | 'attributes' | 'parent'>,
): SpanStart {
  const attributes = {
    'messaging.system': 'bullmq',
    'messaging.operation.type': 'process',
    'messaging.destination.name': queue,
    'messaging.message.id': jobId,
    'image_watcher.failures': failures,
    ...own,
  };
  return { name, kind: 'consumer', parent, attributes };
}

/** Runs the work of a job with its ports. */
export type RunJob<T> = (job: T, context: JobContext, work: (ports: PollPorts) => Promise<void>) => Promise<void>;

/** Runs jobs; one function for each queue. */
export interface JobRunner {
  readonly push: RunJob<PushJob>;
  readonly policy: RunJob<PolicyJob>;
  readonly poll: RunJob<PollJob>;
}

/** Runs jobs without traces. */
export function runDirectly(ports: PollPorts): JobRunner {
  const run: RunJob<unknown> = (_job, _context, work) => work(ports);
  return { push: run, policy: run, poll: run };
}
