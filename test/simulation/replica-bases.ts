/** BaseImagePolicies in a replica: the real cache and `composeBasePolicies`, with a worker of the queue model. Wired as `src/service/compose/work-processors.ts` does it. */
import { createBasePolicyCache } from '../../src/bases/base-policy-cache.ts';
import type { ClusterCache } from '../../src/service/cluster/cluster-cache.ts';
import type { NamespaceContext } from '../../src/service/cluster/effective-policies.ts';
import { composeBasePolicies, type BaseMeans, type BasePart } from '../../src/bases/compose-bases.ts';
import type { Foundation } from '../../src/service/compose/foundation.ts';
import { readContextOf } from '../../src/service/compose/work-ports.ts';
import type { KubeClient } from '../../src/service/kube/client.ts';
import type { BaseJob } from '../../src/service/queue/jobs.ts';
import { readBaseJob } from '../../src/service/queue/read-job.ts';
import type { QueueReplica } from './queue-model.ts';

/** The cache of a replica; it does not connect before it is started. */
export function createBaseCache(foundation: Foundation, client: KubeClient, defaults: NamespaceContext) {
  return createBasePolicyCache({ client, readContext: readContextOf(foundation), defaults, logger: foundation.logger });
}

/** Rebuilds are requested from CI systems, which the simulation has none of. */
const withoutRebuilds: BaseMeans['rebuilds'] = {
  request: (orders) => (orders.length === 0 ? Promise.resolve() : Promise.reject(new Error('the simulation does not model this'))),
  read: () => Promise.resolve([]),
};

/** Builds the part, and its worker, which is not started. */
export function composeBases(
  foundation: Foundation,
  connection: QueueReplica,
  means: Omit<BaseMeans, 'queues' | 'rebuilds' | 'notices' | 'reported' | 'isSelected' | 'listEveryWorkload'> & {
    readonly cluster: ClusterCache;
  },
): { readonly part: BasePart; readonly worker: ReturnType<QueueReplica['createWorker']>; start(): void } {
  const { cluster } = means;
  const part = composeBasePolicies(foundation, {
    ...means,
    queues: connection.queues,
    rebuilds: withoutRebuilds,
    notices: { add: () => Promise.resolve() },
    reported: { read: () => Promise.resolve(new Set()), add: () => Promise.resolve() },
    isSelected: cluster.isSelected,
    listEveryWorkload: cluster.workloads.values,
  });
  const worker = connection.createWorker<BaseJob>({
    queue: 'base',
    concurrency: 8,
    read: readBaseJob,
    random: Math.random,
    process: part.process,
  });
  return {
    part,
    worker,
    start() {
      part.follow(cluster);
      worker.start();
    },
  };
}
