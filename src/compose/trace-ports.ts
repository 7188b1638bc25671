import type { PollPorts } from '../poll/process-poll.ts';
import type { TracedChange } from '../queue/trace-memory.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { traceDecisions } from './trace-decisions.ts';

/** Keeps in mind to which trace a policy's newest change belongs. Must not throw, and nothing waits for it. */
export type RememberChange = (policyUid: string, change: TracedChange) => void;

/** What the work asks of the world, as spans and events of the job that asks. */
export function tracePorts(ports: PollPorts, tracing: Tracing, remember: RememberChange): PollPorts {
  return {
    ...ports,
    patchImages(workload, changes, ...rest) {
      // Nobody follows what does not roll out.
      const policyUid = workload.rollout && changes.find(({ update }) => update !== undefined)?.update?.policy;
      const traceparent = tracing.current();
      // Before the patch: another replica may see the rollout before this one has its answer.
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
        // Looks at rollouts find their trace by the change that they are about.
        return ports.addPolicyJobs(
          traceparent === undefined ? jobs : jobs.map((job) => (job.task === 'rollout' ? job : { ...job, traceparent })),
        );
      });
    },
    observer: traceDecisions(tracing),
  };
}
