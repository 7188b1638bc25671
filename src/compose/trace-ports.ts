import type { PollPorts } from '../poll/process-poll.ts';
import type { TracedChange } from '../queue/trace-memory.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { traceDecisions } from './trace-decisions.ts';

/** Stores the trace of a policy's newest change, in the background. Must not throw. */
export type RememberChange = (policyUid: string, change: TracedChange) => void;

/** Wraps the ports so that requests and decisions become spans and events of the current job. */
export function tracePorts(ports: PollPorts, tracing: Tracing, remember: RememberChange): PollPorts {
  return {
    ...ports,
    patchImages(workload, changes, ...rest) {
      // Workloads that do not roll out are never checked later.
      const policyUid = workload.rollout && changes.find(({ update }) => update !== undefined)?.update?.policy;
      const traceparent = tracing.current();
      // Before the patch, because another replica may see the rollout before this one has the response.
      if (policyUid !== undefined && traceparent !== undefined) remember(policyUid, { traceparent, at: Date.now() });
      return ports.patchImages(workload, changes, ...rest);
    },
    verifyImage: (...request) => tracing.step({ name: 'verify signatures' }, () => ports.verifyImage(...request)),
    addPolicyJobs(jobs) {
      const attributes = {
        'messaging.system': 'bullmq',
        'messaging.operation.type': 'send',
        'messaging.destination.name': 'policy',
        'messaging.batch.message_count': jobs.length,
      };
      return tracing.step({ name: 'send policy', kind: 'producer', attributes }, () => {
        const traceparent = tracing.current();
        // Rollout checks find the trace of their change by `RecallChange`.
        return ports.addPolicyJobs(
          traceparent === undefined ? jobs : jobs.map((job) => (job.task === 'rollout' ? job : { ...job, traceparent })),
        );
      });
    },
    observer: traceDecisions(tracing),
  };
}
