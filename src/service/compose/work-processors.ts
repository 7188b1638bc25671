/** The processors of the role `work`: the ports, the workers of the queues, and the enqueuers of jobs. Nothing runs before it is started. */
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { describeError } from '../../core/model/errors.ts';
import type { PushEvent } from '../../core/model/push-event.ts';
import { createAskCheck } from '../checks/ask-check.ts';
import { createEventRecorder } from '../kube/record-event.ts';
import { connectWorker } from '../queue/connection.ts';
import { createEventLog } from '../queue/event-log.ts';
import { createJobSpans } from '../queue/job-spans.ts';
import { createWorkQueues, type QueueAccess } from '../queue/producer.ts';
import { createEventReader } from '../queue/read-events.ts';
import { createSharedSecret } from '../queue/shared-secret.ts';
import { createReadRepositories } from '../queue/read-repositories.ts';
import { createTraceMemory } from '../queue/trace-memory.ts';
import { createUnannouncedFinds } from '../queue/unannounced-finds.ts';
import { restartForChanges } from '../kube/restart-for-change.ts';
import { createEnqueuer } from '../reconcile/enqueue/enqueuer.ts';
import type { AskCheck } from '../reconcile/checks/check-request.ts';
import type { Report } from '../reconcile/ports.ts';
import { recordDeleted } from '../reconcile/record-older.ts';
import { createRestarter } from '../reconcile/restart-configured.ts';
import { registryAuthorities } from '../doctor-facts/make-report.ts';
import type { Foundation } from './foundation.ts';
import { createQueueWorkers } from './queue-workers.ts';
import { queueErrorReporter, redisAddressOf } from './redis.ts';
import { openRegistries } from './registries.ts';
import type { WorkConnections } from './work.ts';
import type { WorkCaches } from './work-caches.ts';
import { createSources, createWorkPorts } from './work-ports.ts';
import { followRequests } from '../cluster/follow-requests.ts';
import { joinNotices, joinRewrites, type NoteActivity } from './work-wing.ts';

export type WorkProcessors = ReturnType<typeof createProcessors>;

/** Builds the processors on the caches. */
export function createProcessors(foundation: Foundation, caches: WorkCaches, connections: WorkConnections) {
  const { logger, tracing } = foundation;
  const { cluster: cache } = caches;
  const means = openMeans(foundation, caches, connections);
  const { redis, queue, queues, registry, recorder, eventLog, traces } = means;
  const { prefix } = queue;
  const joined = joinWings(foundation, caches, connections, means);
  const notices = joinNotices(joined.flatMap((wing) => wing.notices ?? []));
  const common = createWorkPorts(foundation, {
    ...caches,
    cache,
    confirmations: joined.flatMap(({ confirm }) => confirm ?? []),
    registry,
    queues,
    recorder,
    eventLog,
    reads: createReadRepositories({ redis, prefix, now: Date.now }),
    findSources: joined.flatMap(({ findSource }) => findSource ?? []),
    finds: createUnannouncedFinds(redis, prefix, createEventReader(queue)),
    trustRoot: connections.trustRoot,
    notices,
    traces,
  });
  const noteActivity: NoteActivity = (activities) => {
    for (const { onActivity } of joined) onActivity?.(activities);
  };
  followRequests(cache.policies, 'ImagePolicy', noteActivity);
  cache.policies.subscribe(({ type, object }) => {
    if (type === 'deleted') recordDeleted(object, common).catch((error: unknown) => logger.debug({ err: error }, 'redis connection error'));
  });
  const wings = joined.flatMap(({ work }) => work?.(common, { notices, noteActivity }) ?? []);
  const onPush = async (push: PushEvent) => (await Promise.all(wings.flatMap((wing) => wing.onPush?.(push) ?? []))).flat();
  const ports = { ...common, bases: { onPush } };
  const [pushes, ...others] = createQueueWorkers(ports, {
    access: queue,
    storedOn: connections.storesPushes ? means.storing : undefined,
    spans: tracing && createJobSpans(tracing, traces),
    askCheck: openChecks(foundation, caches, queue),
    turns: foundation.turns,
  });
  return {
    redis,
    queue,
    queues,
    registry,
    recorder,
    ports,
    wings,
    noteActivity,
    pushes,
    restarter: openRestarter(caches, common.report),
    workers: [pushes, ...others, ...wings.flatMap(({ workers }) => workers)],
    enqueuer: createEnqueuer({
      ...ports,
      untilPatched: ports.report.untilPatched,
      turns: foundation.turns,
      onError: (error) => logger.warn({ why: describeError(error) }, 'jobs not enqueued, will be repeated'),
    }),
  };
}

type WorkMeans = ReturnType<typeof openMeans>;

/** Opens the queues, the registries, and what records results. */
function openMeans({ settings, logger, ...foundation }: Foundation, { client, access }: WorkCaches, { failFastRedis }: WorkConnections) {
  const { prefix } = settings.config.redis;
  const redis = connectWorker(redisAddressOf(settings));
  redis.on('error', (error) => logger.debug({ err: error }, 'redis connection error'));
  const queue: QueueAccess = { redis, prefix, onError: queueErrorReporter(logger) };
  const isKept = settings.config.record !== undefined;
  return {
    redis,
    queue,
    /** The queue on the connection on which the same process stores pushes. */
    storing: { ...queue, redis: failFastRedis, onError: (error: Error) => logger.debug({ err: error }, 'push queue error') },
    queues: createWorkQueues(queue, Date.now),
    registry: openRegistries({ ...foundation, settings, logger }, access, failFastRedis),
    recorder: createEventRecorder({
      client,
      component: 'image-watcher',
      instance: hostname(),
      onError: (error) => logger.warn({ why: describeError(error) }, 'event not recorded'),
      lull: { quietMs: 500, atMostMs: 5_000 },
    }),
    eventLog: createEventLog({ redis, prefix, isKept }, (error) => logger.debug({ why: error.message }, 'redis full, record not written')),
    traces: createTraceMemory({
      redis: failFastRedis,
      prefix,
      onError: (error) => logger.debug({ why: describeError(error) }, 'trace memory error'),
    }),
  };
}

/** Gives every wing the parts that it builds on. */
function joinWings(foundation: Foundation, caches: WorkCaches, connections: WorkConnections, means: WorkMeans) {
  const { cluster: cache, access, namespaces, wings } = caches;
  const { registry, queue, queues, eventLog } = means;
  const { failFastRedis, redisHealth, readServedCertificates } = connections;
  const { sourceOf } = createSources(foundation, { cache, access });
  return wings.map(({ join }) =>
    join({
      cache,
      namespaces,
      access,
      registry,
      queue,
      queues,
      failFastRedis,
      redisHealth,
      eventLog,
      sourceOf,
      rewriteNotice: joinRewrites(wings),
      readCertificates: async () => [...(await readServedCertificates()), ...registryAuthorities(foundation)],
    }),
  );
}

/** Creates what asks the checks of rollouts. */
function openChecks({ settings, outbound }: Foundation, { client, access }: WorkCaches, { redis, prefix }: QueueAccess): AskCheck {
  const { checks, cluster } = settings.config;
  return createAskCheck({
    fetch: outbound.fetch,
    hosts: checks.hosts,
    servers: settings.checkServers,
    jobs: checks.jobs,
    analysis: checks.analysis,
    checkSecret: createSharedSecret(redis, prefix, 'check'),
    client,
    readSecret: access.readSecret,
    cluster: cluster.name,
    now: Date.now,
  });
}

/** Creates what restarts the workloads of changed ConfigMaps. */
function openRestarter({ client, cluster }: WorkCaches, report: Report) {
  return createRestarter(
    {
      cluster: { findWorkload: cluster.workloads.findWorkload, now: Date.now },
      async restart(workload, restart, signal) {
        return cluster.isSelected(workload.namespace) ? restartForChanges(client, workload, restart, signal) : 'gone';
      },
      report,
    },
    (ms, signal) => delay(ms, undefined, { signal }),
  );
}
