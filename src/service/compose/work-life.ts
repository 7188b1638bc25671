/** The life of the role `work`: the order of its starts, the jobs that the caches cause, and the regular checks. */
import { within } from '../../core/async/deadline.ts';
import { isSameSecret } from '../../core/model/image-source.ts';
import type { PolicyFeed } from '../api/stream.ts';
import { untilSynced } from '../cluster/policy-watches.ts';
import { tickMs } from '../poll/poll-schedule.ts';
import type { RedisHealth } from '../queue/redis-health.ts';
import { hasOtherPods } from '../explain/count-pods.ts';
import { considerFollowers } from '../reconcile/enqueue/enqueue-followers.ts';
import { createSourceListener } from '../reconcile/enqueue/enqueue-for-sources.ts';
import { createConsentListener, enqueueForWorkload } from '../reconcile/enqueue/enqueue-new-targets.ts';
import { createRestartListener, type RestartListener } from '../reconcile/restart-configured.ts';
import type { Foundation } from './foundation.ts';
import { collectLargeHeap } from '../operations/heap.ts';
import type { Living } from './life.ts';
import { trimRedis } from './redis.ts';
import type { WorkCaches } from './work-caches.ts';
import type { WorkProcessors } from './work-processors.ts';

/** How often all policies and schedulers are checked. A wiped Redis loses schedulers, and a crash may lose the job of a policy. */
const sweepMs = 60_000;
const maxKindsMs = 5_000;

interface Around {
  readonly feed: PolicyFeed;
  readonly redisHealth: () => RedisHealth;
}

/** All parts of the role, in the order in which they start. */
export function workParts(foundation: Foundation, caches: WorkCaches, processors: WorkProcessors, { feed, redisHealth }: Around): Living[] {
  const { settings, logger } = foundation;
  const { client, cluster, access, namespaces, definitions } = caches;
  const { redis, queues, registry, recorder, wings, workers, enqueuer } = processors;
  const trimming = trimRedis({ redis, prefix: settings.config.redis.prefix, health: redisHealth, queues, logger });
  const restarts = createRestartListener(caches.namedConfigMaps, cluster, processors.restarter, (change) => {
    enqueueForWorkload(change, cluster, processors.ports.cluster, enqueuer);
  });
  const sweep = createSweep(caches, processors, restarts);
  return [
    { name: 'connection to Redis', stop: () => redis.disconnect() },
    { name: 'connections to registries and the cluster', stop: () => Promise.all([client.close(), registry.close()]) },
    {
      name: 'policies',
      start: caches.watchPolicies,
      stop: () => Promise.all(caches.policyWatches().map(({ reflector }) => reflector.stop())),
    },
    {
      name: 'what wings watch',
      start: () => wings.forEach((wing) => wing.watch(caches.watchedIn)),
      stop: () => Promise.all(wings.map((wing) => wing.stop())),
    },
    { name: 'definitions', start: definitions.start, stop: () => definitions.stop() },
    { name: 'workloads', stop: () => cluster.workloads.stop() },
    {
      name: 'Secrets and Namespaces, and with them all caches',
      async start() {
        await Promise.all([access.start(), namespaces.start(), untilSynced(caches.policyWatches())]);
        // The workers need the policies. A short wait for the targets as well saves retries, but no kind may delay the workers for longer.
        await within(maxKindsMs, Promise.all([cluster.synced(), ...wings.map((wing) => wing.settled())]));
        logger.info({ policies: cluster.policies.size, workloads: cluster.workloads.size }, 'caches are complete');
      },
      stop: () => Promise.all([access.stop(), namespaces.stop()]),
    },
    { name: 'heap', start: collectLargeHeap, stop: () => undefined },
    { name: 'Events', stop: () => recorder.flush(2_000) },
    {
      name: 'workers',
      start() {
        followCaches(foundation, caches, processors, { feed, restarts });
        for (const worker of workers) worker.start();
      },
      stop: (deadlineMs) => Promise.all(workers.map((worker) => worker.stop(deadlineMs))),
    },
    {
      name: 'enqueuers',
      start: () => wings.forEach((wing) => wing.start()),
      stop() {
        enqueuer.stop();
        for (const wing of wings) wing.quiet?.();
      },
    },
    { name: 'trimming of Redis', start: trimming.start, stop: trimming.stop },
    { name: 'restarts', stop: () => processors.restarter.stop() },
    { name: 'sweep', ...sweep },
  ];
}

/** Enqueues jobs when something changes in the caches, from now on. */
function followCaches(
  { settings: { config } }: Foundation,
  { cluster, namespaces, access, rules, onLabels }: WorkCaches,
  { ports, enqueuer, wings }: WorkProcessors,
  { feed, restarts }: { readonly feed: PolicyFeed; readonly restarts: RestartListener },
): void {
  cluster.policies.subscribe((change) => {
    feed.publish(change);
    enqueuer.onPolicy(change);
    considerFollowers(change, cluster, enqueuer);
  });
  const considerSource = createSourceListener(cluster, ports.cluster, enqueuer);
  cluster.listen({
    onKindReady: () => enqueuer.resync(),
    onWorkload(change) {
      const policies = enqueueForWorkload(change, cluster, ports.cluster, enqueuer);
      if (hasOtherPods(change)) for (const object of policies) feed.publish({ type: 'updated', object, previous: object, isOfPods: true });
      considerSource(change);
      restarts.onWorkload(change);
    },
  });
  const considerConsent = createConsentListener(cluster, ports.cluster, enqueuer);
  namespaces.onConsent(considerConsent);
  onLabels(({ namespace, policies }) => {
    for (const policy of policies) enqueuer.addSelected(policy, namespaces.versionOf(namespace));
    if (rules.selector !== undefined) considerConsent(namespace);
  });
  access.subscribe((changed) => {
    for (const wing of wings) wing.onSecret?.(changed.namespace);
    // The fallback Secret concerns the policies of all namespaces.
    const isFallback = isSameSecret(changed, config.credentials.secret);
    for (const policy of cluster.stalledForSecretsIn(isFallback ? undefined : changed.namespace)) enqueuer.consider(policy);
  });
}

/** Creates the regular check, which repeats what a crash, or a Redis that lost its data, may have undone. */
function createSweep(
  { namespaces, cluster }: WorkCaches,
  { redis, queue, queues, enqueuer, wings }: WorkProcessors,
  restarts: RestartListener,
): Pick<Living, 'start' | 'stop'> {
  let timer: NodeJS.Timeout | undefined;
  const sweep = () => {
    queues.scheduleTick(tickMs).catch(queue.onError);
    void namespaces.refresh();
    enqueuer.resync();
    for (const wing of wings) wing.resync?.();
    cluster.updateWatches();
    restarts.resync();
  };
  return {
    start() {
      sweep();
      timer = setInterval(sweep, sweepMs);
      redis.on('ready', sweep);
    },
    stop() {
      clearInterval(timer);
      redis.off('ready', sweep);
    },
  };
}
