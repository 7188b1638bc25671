/** The role `work`: cache, workers, poll. */
import { hostname } from 'node:os';
import { within } from '../../core/async/deadline.ts';
import { namespaceRulesOf } from '../config/policy-defaults.ts';
import { describeError } from '../../core/model/errors.ts';
import { isSameSecret } from '../../core/model/image-source.ts';
import { needsLabels, notSelected, notWatched } from '../../core/model/policy-defaults.ts';
import { createDiscovery } from '../kube/discovery.ts';
import { createEventRecorder } from '../kube/record-event.ts';
import { tickMs } from '../poll/poll-schedule.ts';
import { connectWorker, type RedisConnection } from '../queue/connection.ts';
import { createEventLog } from '../queue/event-log.ts';
import { createWorkQueues, type QueueAccess } from '../queue/producer.ts';
import { createEventReader } from '../queue/read-events.ts';
import { createReadRepositories } from '../queue/read-repositories.ts';
import type { RedisHealth } from '../queue/redis-health.ts';
import { createUnannouncedFinds } from '../queue/unannounced-finds.ts';
import type { QueueWorker } from '../queue/worker.ts';
import { createEnqueuer } from '../reconcile/enqueue/enqueuer.ts';
import { createAccessCache } from '../cluster/access-cache.ts';
import { composeBasePolicies } from '../../bases/compose-bases.ts';
import type { DoctorMeans } from './doctor.ts';
import { createBaseWorkers, storeBases } from '../../bases/base-workers.ts';
import { enqueueForWorkload, enqueueForConsent } from './enqueue-new-targets.ts';
import { createBasePolicyCache } from '../../bases/base-policy-cache.ts';
import { createClusterCache } from '../cluster/cluster-cache.ts';
import type { Foundation, Part } from './foundation.ts';
import { createConfirmParent, createWhyHeld, followParents } from '../../bases/hold-children.ts';
import {
  areConnected,
  checkKinds,
  checkReflector,
  logWatchErrors,
  untilSynced,
  watchPolicies,
  watchedNamespaces,
  workloadReflectors,
  type PolicyWatch,
} from '../cluster/policy-watches.ts';
import { collectLargeHeap } from './heap.ts';
import { trimRedis } from './trim-redis.ts';
import { queueErrorReporter, redisAddressOf } from './redis.ts';
import { createDefinitionWatch } from '../cluster/definition-watch.ts';
import { createNamespaceCache } from '../cluster/namespace-cache.ts';
import { openRegistries } from './registries.ts';
import { traceCluster } from './trace-requests.ts';
import { traceWork } from './trace-work.ts';
import { measureBases } from '../../bases/measure-bases.ts';
import { measurePolicies } from './measure-policies.ts';
import { createNoticeOrigins } from '../../notify/notice-origins.ts';
import { composeNotices } from '../../notify/compose-notices.ts';
import { createQueueWorkers } from './queue-workers.ts';
import { createWorkPorts, readContextOf, type Adapters } from './work-ports.ts';
import type { PolicyPorts } from '../api/ports.ts';
import { createPolicyFeed } from '../api/stream.ts';
import type { SelectedNamespaces } from '../api/namespaces-api.ts';

/** How often all policies and schedulers are checked: a wiped Redis loses schedulers, and a crash may lose the job of a policy. */
const sweepMs = 60_000;
const maxKindsMs = 5_000;

/** The connections that the role needs, and the trust root of keyless signatures. */
export interface WorkConnections extends Pick<Adapters, 'client' | 'trustRoot'> {
  /** A connection to Redis that fails fast. */
  readonly failFastRedis: RedisConnection;
  /** Whether the same process stores pushes on it. */
  readonly storesPushes: boolean;
  readonly redisHealth: () => RedisHealth;
}

/** The role, and through what it sees policies and registries. */
export type WorkPart = Part & {
  /** Takes a push that this process is just storing. */
  readonly takeStored: () => void;
  readonly view: Pick<DoctorMeans, 'registry' | 'policies' | 'sourceOf' | 'isWatching'>;
  readonly namespaces: SelectedNamespaces;
  readonly policies: Omit<PolicyPorts, 'noActions' | 'patch' | 'read'>;
};

/** Builds the role. */
export function composeWork(
  foundation: Foundation,
  { client, failFastRedis, storesPushes, redisHealth, trustRoot }: WorkConnections,
): WorkPart {
  const { settings, logger, metrics, tracing } = foundation;
  const { config } = settings;
  const redis = connectWorker(redisAddressOf(settings));
  redis.on('error', (error) => logger.debug({ err: error }, 'redis connection error'));
  const queue: QueueAccess = { redis, prefix: config.redis.prefix, onError: queueErrorReporter(logger) };
  const queues = createWorkQueues(queue, Date.now);
  const namespaces = watchedNamespaces(config.watch.namespaces);
  const watched = { namespaces: config.watch.namespaces, logger };
  const rules = namespaceRulesOf(config);
  const { crossNamespace } = config;
  const namespaceCache = createNamespaceCache({ ...watched, usesLabels: needsLabels(rules) }, client);
  const readContext = readContextOf(foundation);
  // Only the ports trace their requests: watches outlive the job that starts them, and must not belong to its span.
  const tracedClient = tracing === undefined ? client : traceCluster(client, tracing);
  const baseCache = createBasePolicyCache({ client: tracedClient, readContext, logger });
  const cache = createClusterCache(
    {
      client,
      discovery: createDiscovery(client, config.customTargets),
      namespaces,
      onError: logWatchErrors(logger),
      now: Date.now,
      random: Math.random,
      otherKinds: baseCache.kinds,
      whyHeld: createWhyHeld(baseCache),
    },
    { rules, labelsOf: namespaceCache.labelsOf },
  );
  followParents(baseCache, cache);
  const definitions = createDefinitionWatch({ ...watched, rediscover: cache.workloads.rediscover }, client);
  const access = createAccessCache({ ...watched, fallback: config.credentials.secret }, client);
  const optional = [access, namespaceCache, definitions];
  const registry = openRegistries(foundation, access, failFastRedis);
  const recorder = createEventRecorder({
    client,
    component: 'image-watcher',
    instance: hostname(),
    onError: (error) => logger.warn({ why: describeError(error) }, 'event not recorded'),
    lull: { quietMs: 500, atMostMs: 5_000 },
  });
  let reflectors: PolicyWatch[] = [];
  const allReflectors = () => [...reflectors, ...workloadReflectors(namespaces, cache)];
  const isWatching = () => areConnected(reflectors) && namespaceCache.areLabelsKnown();
  const policyWatchOf: Adapters['policyWatchOf'] = (namespace) =>
    reflectors.find((watch) => watch.namespace === undefined || watch.namespace === namespace)?.reflector;
  const notices = composeNotices(foundation, {
    queue,
    queues,
    client,
    readSecret: access.readSecret,
    isSelected: cache.isSelected,
    findBase: (namespace, name) => baseCache.policies.get(namespace, name),
    recordGivenUp: (...given) => ports.report.eventLog.recordGivenUp(...given),
    readOrigins: createNoticeOrigins(
      registry,
      (namespace, name) => ports.policies.find(namespace, name),
      (policy, spec) => ports.registry.sourceOf(policy, spec),
    ),
  });
  const plain = createWorkPorts(foundation, {
    client: tracedClient,
    cache,
    access,
    namespaces: namespaceCache,
    isWatching,
    policyWatchOf,
    confirmParent: createConfirmParent(baseCache, cache, namespaceCache),
    policyWatches: () => reflectors,
    registry,
    queues,
    recorder,
    eventLog: createEventLog(redis, config.redis.prefix, (error) => logger.debug({ why: error.message }, 'redis full, record not written')),
    reads: createReadRepositories({ redis, prefix: config.redis.prefix, now: Date.now }),
    findBase: baseCache.policies.get,
    finds: createUnannouncedFinds(redis, config.redis.prefix, createEventReader(queue)),
    trustRoot,
    bases: { onPush: (push) => bases.onPush(push) },
    notices: notices.store,
  });
  const { ports, runner } = traceWork(plain, foundation, failFastRedis);
  const bases = composeBasePolicies(foundation, {
    client: tracedClient,
    cache: baseCache,
    namespaces: namespaceCache,
    registry,
    ...storeBases(queue, queues, redisHealth),
    ports,
    readSecret: access.readSecret,
    notices: notices.store,
    isSelected: cache.isSelected,
  });
  const enqueuer = createEnqueuer({
    ...ports,
    onError: (error) => logger.warn({ why: describeError(error) }, 'jobs not enqueued, will be repeated'),
  });
  const storing = { ...queue, redis: failFastRedis, onError: (error: Error) => logger.debug({ err: error }, 'push queue error') };
  const [pushes, ...others] = createQueueWorkers(queue, ports, runner, storesPushes ? storing : undefined);
  const baseWorkers = createBaseWorkers(foundation, { queue, queues, bases, readSecret: access.readSecret });
  const workers: QueueWorker[] = [pushes, ...others, ...baseWorkers, notices.worker];
  const feed = createPolicyFeed();
  let sweep: NodeJS.Timeout | undefined;
  const housekeeping = trimRedis({ redis, prefix: config.redis.prefix, health: redisHealth, queues, logger });
  let stopped = false;
  let isWorking = false;
  namespaceCache.onLabels((namespace) => {
    const selected = cache.refresh(namespace);
    if (!isWorking) return;
    for (const policy of selected) enqueuer.addSelected(policy, namespaceCache.versionOf(namespace));
    if (rules.selector !== undefined) enqueueForConsent(namespace, cache, ports.cluster, enqueuer);
  });

  const workWhenSynced = async () => {
    await Promise.all([access.start(), namespaceCache.start(), untilSynced(reflectors)]);
    // Workers need the policies. Waiting a moment for the targets as well saves retries, but no kind may delay the workers for longer.
    await within(maxKindsMs, Promise.all([cache.synced(), notices.settled(), baseCache.settled()]));
    if (stopped) return;
    logger.info({ policies: cache.policies.size, workloads: cache.workloads.size }, 'caches are complete');
    await collectLargeHeap();
    if (stopped) return;
    cache.policies.subscribe((change) => {
      const { type, object } = change;
      feed.publish(change);
      if (type !== 'deleted') enqueuer.consider(object);
    });
    cache.listen({
      onKindReady: () => enqueuer.resync(),
      onWorkload: (change) => enqueueForWorkload(change, cache, ports.cluster, enqueuer),
    });
    namespaceCache.onConsent((namespace) => enqueueForConsent(namespace, cache, ports.cluster, enqueuer));
    bases.follow(cache);
    access.subscribe((changed) => {
      notices.onSecret(changed.namespace);
      // The fallback Secret concerns the policies of all namespaces.
      const isFallback = isSameSecret(changed, config.credentials.secret);
      for (const policy of cache.stalledForSecretsIn(isFallback ? undefined : changed.namespace)) enqueuer.consider(policy);
    });
    for (const worker of workers) worker.start();
    isWorking = true;
    maintain();
    sweep = setInterval(maintain, sweepMs);
    housekeeping.start();
    notices.start();
    // Redis may have lost its data.
    redis.on('ready', maintain);
  };
  const maintain = () => {
    queues.scheduleTick(tickMs).catch(queue.onError);
    void namespaceCache.refresh();
    enqueuer.resync();
    bases.enqueuer.resync();
    cache.updateWatches();
  };

  const whyNotSelected = (namespace: string) => {
    if (!namespaces.some((watched) => watched === undefined || watched === namespace)) return notWatched(namespace);
    return cache.isSelected(namespace) ? undefined : notSelected(namespace);
  };
  return {
    takeStored: pushes.takeStored,
    view: { registry, policies: ports.policies.all, sourceOf: ports.registry.sourceOf, isWatching },
    policies: {
      areKnown: isWatching,
      all: ports.policies.all,
      find: ports.policies.find,
      consider: (policy) => ({ policy, why: whyNotSelected(policy.namespace) }),
      cluster: ports.cluster,
      feed,
    },
    namespaces: { areKnown: namespaceCache.areLabelsKnown, whyNotSelected },
    checks: () => [...allReflectors().map(checkReflector), ...checkKinds(cache), ...optional.flatMap((watches) => watches.checks())],
    measure() {
      metrics.policies.set(cache.policies.size);
      measurePolicies(cache.policies.values(), config.metrics.policies, metrics);
      measureBases(baseCache.policies.values(), metrics);
      metrics.workloads.set(cache.workloads.size);
      for (const { name, reflector } of allReflectors())
        metrics.watchConnected.set({ resource: name }, reflector.state().connected ? 1 : 0);
      access.measure(metrics);
      namespaceCache.measure(metrics);
    },
    start() {
      if (crossNamespace === 'legacy')
        logger.warn(
          {},
          'crossNamespace: legacy lets policies update workloads of other namespaces without consent: run "image-watcher consents", then use consent',
        );
      reflectors = namespaces.map((namespace) => watchPolicies(namespace, { readContext, logger }, client, cache));
      bases.start(namespaces);
      notices.watch(namespaces);
      definitions.start();
      void workWhenSynced();
      return Promise.resolve();
    },
    async stop(deadlineMs) {
      stopped = true;
      clearInterval(sweep);
      housekeeping.stop();
      redis.off('ready', maintain);
      enqueuer.stop();
      bases.enqueuer.stop();
      await Promise.all(workers.map((worker) => worker.stop(deadlineMs)));
      await recorder.flush(2_000);
      await Promise.all([
        ...optional.map((watches) => watches.stop()),
        notices.stop(),
        cache.workloads.stop(),
        baseCache.stop(),
        ...reflectors.map(({ reflector }) => reflector.stop()),
      ]);
      await Promise.all([client.close(), registry.close()]);
      redis.disconnect();
    },
  };
}
