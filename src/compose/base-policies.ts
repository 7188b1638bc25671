/** The part of the role `work` that reconciles BaseImagePolicies. */
import { readBasePolicy } from '../api-versions/base-policy/read-base-policy.ts';
import { BoundedMap } from '../async/bounded-map.ts';
import { createBaseEnqueuer, baseKey, jobFor, type BaseEnqueuer } from '../base-policies/enqueue-bases.ts';
import type { BasePolicies, BasePorts } from '../base-policies/ports.ts';
import { processBaseJob } from '../base-policies/reconcile-base.ts';
import { createRestartsOnPush } from '../base-policies/restarts-on-push.ts';
import { createVersionsMemory } from '../base-policies/select-base.ts';
import { createFactsReader } from '../bases/facts-reader.ts';
import { basePolicyResource, createBasePolicyCache, type BasePolicyCache } from '../cluster/base-policies.ts';
import type { NamespaceCache } from '../cluster/namespace-cache.ts';
import type { KubeClient } from '../kube/client.ts';
import { objectPath, readObject } from '../kube/objects.ts';
import { patchStatus } from '../kube/patch-status.ts';
import { isActiveBase, readBaseStatus } from '../model/base-policy.ts';
import { describeError } from '../model/errors.ts';
import { matchesSelector } from '../model/label-selector.ts';
import type { BaseJob } from '../queue/jobs.ts';
import { createImageFactsStore } from '../queue/image-facts.ts';
import type { QueueAccess, WorkQueues } from '../queue/producer.ts';
import { readBaseJob } from '../queue/read-job.ts';
import type { RedisHealth } from '../queue/redis-health.ts';
import { createWorker, type QueueWorker } from '../queue/worker.ts';
import type { Ports } from '../reconcile/ports.ts';
import type { RegistryClient } from '../registry/client.ts';
import { createBaseActions } from './base-actions.ts';
import type { Foundation } from './foundation.ts';
import type { NoticeStore } from './notices.ts';
import { createRebuilds, createTriggerWorker, type TriggerMeans } from './triggers.ts';
import { readContextOf } from './work-ports.ts';

/** What the part shares with the rest of the role. */
export interface BaseMeans {
  readonly client: KubeClient;
  readonly namespaces: NamespaceCache;
  readonly registry: RegistryClient;
  readonly queue: QueueAccess;
  readonly queues: WorkQueues;
  readonly redisHealth: () => RedisHealth;
  readonly ports: Omit<Ports, 'bases'>;
  readonly readSecret: TriggerMeans['readSecret'];
  readonly notices: Pick<NoticeStore, 'onBaseStatus'>;
  readonly isSelected: (namespace: string) => boolean;
}

/** The part. */
export interface BasePart {
  readonly cache: BasePolicyCache;
  readonly enqueuer: BaseEnqueuer;
  readonly workers: readonly QueueWorker[];
  readonly onPush: Ports['bases']['onPush'];
  /** Starts the watch. */
  start(namespaces: readonly (string | undefined)[]): void;
}

const concurrency = 8;
/** Facts can be read again; pushes cannot. */
const maxMemoryShare = 0.7;
const maxDigests = 10_000;
const maxWaits = 10_000;

/** Builds the part; it does not connect before it is started. */
export function composeBasePolicies(foundation: Foundation, means: BaseMeans): BasePart {
  const { client, namespaces, queue, queues, isSelected } = means;
  const { logger } = foundation;
  const readContext = readContextOf(foundation);
  const cache = createBasePolicyCache({ client, readContext, logger });
  const all = () => [...cache.policies.values()].filter(({ namespace }) => isSelected(namespace));
  const ports = createBasePorts(foundation, means, cache);
  const restartsOnPush = createRestartsOnPush(ports.cluster, Date.now);
  const enqueuer = createBaseEnqueuer({
    all,
    addBaseJobs: queues.addBaseJobs,
    namespaceMatches: (namespace, selector) => matchesSelector(selector, namespaces.labelsOf(namespace)),
    now: Date.now,
    onError: (error) => logger.warn({ why: describeError(error) }, 'jobs not enqueued, will be repeated'),
  });
  const worker = createWorker<BaseJob>({
    access: queue,
    now: Date.now,
    random: Math.random,
    queue: 'base',
    concurrency,
    read: readBaseJob,
    process: (job, context) => processBaseJob(job, context, ports),
  });
  // Not from the cache: what another replica has just selected would look unwanted.
  const findPolicy = ports.basePolicies.read;
  const triggerWorker = createTriggerWorker(foundation, { queue, queues, findPolicy, readSecret: means.readSecret });
  return {
    cache,
    enqueuer,
    workers: [worker, triggerWorker],
    async onPush({ id, repository }) {
      const watching = cache.match(repository).filter((policy) => isSelected(policy.namespace) && isActiveBase(policy));
      const running = all().filter((policy) => !watching.includes(policy) && isActiveBase(policy) && restartsOnPush(policy, repository));
      await queues.addBaseJobs([
        ...watching.map((policy) => ({ ...jobFor(policy, 'Webhook', `push:${id}`, Date.now()), eventId: id })),
        ...running.map((policy) => ({ ...jobFor(policy, 'TargetChange', `image:${id}`, Date.now()), pushed: repository })),
      ]);
      return watching.map(baseKey);
    },
    start(watched) {
      cache.policies.subscribe(({ type, object }) => {
        if (type !== 'deleted' && isSelected(object.namespace)) enqueuer.consider(object);
      });
      cache.start(watched);
    },
  };
}

const pathOf = (namespace: string, name: string) => objectPath(basePolicyResource, namespace, name);

function createBasePorts(
  foundation: Foundation,
  { client, namespaces, registry, queue, queues, redisHealth, ports, readSecret, notices, isSelected }: BaseMeans,
  cache: BasePolicyCache,
): BasePorts {
  const { aliases } = foundation;
  const readContext = readContextOf(foundation);
  const basePolicies: BasePolicies = {
    all: () => cache.policies.values(),
    find: (namespace, name) => (isSelected(namespace) ? cache.policies.get(namespace, name) : undefined),
    async read(namespace, name, signal) {
      const raw = await readObject<unknown>(client, pathOf(namespace, name), signal);
      return raw === undefined || !isSelected(namespace) ? undefined : readBasePolicy(raw, readContext);
    },
    async writeStatus(policy, update, signal, eventId) {
      const cached = cache.policies.get(policy.namespace, policy.name);
      const written = await patchStatus({
        client,
        path: pathOf(policy.namespace, policy.name),
        current: cached?.uid === policy.uid ? cached : policy,
        update: (status) => update(readBaseStatus(status)),
        beforeWrite: (before, after) => notices.onBaseStatus(policy, before, after, eventId),
        signal,
      });
      if (written !== undefined) cache.policies.observe(readBasePolicy(written, readContext));
    },
    underWay: new Set(),
  };
  const { redis, prefix } = queue;
  const store = createImageFactsStore({ redis, prefix, now: Date.now, canWrite: () => redisHealth().memoryShare < maxMemoryShare });
  return {
    ...createBaseActions(foundation, client, { registry, readSecret, rebuilds: createRebuilds({ queue, queues }) }),
    basePolicies,
    cluster: { ...ports.cluster, namespacesWith: (selector) => namespaces.namesWith(selector).filter(isSelected) },
    registry: ports.registry,
    facts: createFactsReader({ registry, store, aliases, now: Date.now }),
    versions: createVersionsMemory(),
    digests: new BoundedMap(maxDigests),
    waits: new BoundedMap(maxWaits),
    queues,
    report: ports.report,
  };
}
