/** The spans of jobs: when they are added, and when they are processed. */
import { policyKey } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { currentSpan, type Attributes, type RootSpan, type SpanStart, type Tracing } from '../telemetry/tracing.ts';
import type { PolicyJob, PollJob, ScanJob, PushJob, QueueName } from './jobs.ts';
import type { TickJob } from './producer.ts';
import type { TraceMemory } from './trace-memory.ts';
import type { JobContext } from './worker.ts';

const processPolicy = 'process policy';

/** The trace that new jobs continue: that of the current span, if there is one. */
export function currentTrace(): { readonly traceparent?: string } {
  const span = currentSpan();
  return span === undefined ? {} : { traceparent: span.traceparent };
}

/** The span in which jobs are added to a queue. */
export function sendSpan(queue: QueueName, count: number): SpanStart {
  const attributes = { ...messaging(queue, 'send'), 'messaging.batch.message_count': count };
  return { name: `send ${queue}`, kind: 'producer', attributes };
}

/** Does the work for one of several policies of a push in a span of its own, if the push has one. */
export function inPolicySpan<T>(policy: PolicyJob['policy'], work: () => Promise<T>): Promise<T> {
  const attributes = { 'image_watcher.policy': policyKey(policy), 'k8s.namespace.name': policy.namespace };
  return currentSpan()?.step({ name: processPolicy, attributes }, work) ?? work();
}

/** Processes a job in a span. */
export type RunInSpan<T> = (job: T, context: JobContext, work: () => Promise<void>) => Promise<void>;

/** The spans in which jobs are processed, by their queue. */
export interface JobSpans {
  readonly push: RunInSpan<PushJob>;
  readonly policy: RunInSpan<PolicyJob>;
  readonly poll: RunInSpan<PollJob | ScanJob | TickJob>;
}

/**
 * Creates the spans of jobs. They continue the trace in the job's data or begin a new one. A check of rollouts continues the trace of the change, even if another
 * cause enqueued the check.
 */
export function createJobSpans(tracing: Tracing, { recall }: Pick<TraceMemory, 'recall'>): JobSpans {
  return {
    push: (job, context, work) =>
      tracing.span(processSpan('push', context, { name: 'process push', parent: job.traceparent, attributes: ofPush(job) }), work),
    async policy(job, context, work) {
      const attributes = ofPolicy(job);
      const start =
        job.task === 'rollout'
          ? { name: 'check rollout', follows: await recall(job.policy.uid), attributes }
          : { name: processPolicy, parent: job.traceparent, attributes };
      return tracing.span(processSpan('policy', context, start), work);
    },
    poll(job, context, work) {
      if (!('repository' in job)) return work();
      const attributes = { 'container.image.name': formatRepository(job.repository) };
      return tracing.span(processSpan('poll', context, { name: 'process poll', attributes }), work);
    },
  };
}

function processSpan(queue: QueueName, { jobId, failures }: JobContext, { attributes, ...start }: RootSpan): RootSpan {
  const ofJob = { 'messaging.message.id': jobId, 'image_watcher.failures': failures };
  return { ...start, kind: 'consumer', attributes: { ...messaging(queue, 'process'), ...ofJob, ...attributes } };
}

function messaging(queue: QueueName, operation: 'send' | 'process'): Attributes {
  return { 'messaging.system': 'bullmq', 'messaging.operation.type': operation, 'messaging.destination.name': queue };
}

function ofPush({ id, receiver, repository, tag }: PushJob): Attributes {
  return {
    'image_watcher.event': id,
    'image_watcher.receiver': receiver,
    'container.image.name': formatRepository(repository),
    'container.image.tags': [tag],
  };
}

function ofPolicy({ policy, source, eventId }: PolicyJob): Attributes {
  return {
    'image_watcher.policy': policyKey(policy),
    'image_watcher.source': source,
    'k8s.namespace.name': policy.namespace,
    ...(eventId !== undefined && { 'image_watcher.event': eventId }),
  };
}
