/** One replica of the role `work`: the real ports, caches, processors and enqueuer, over simulated connections. Wired as `src/service/compose/work-processors.ts` does it. */
import { setTimeout as delay } from 'node:timers/promises';
import { loadSettings, type Settings } from '../../src/service/config/settings.ts';
import { namespaceRulesOf } from '../../src/service/config/policy-defaults.ts';
import { createAskCheck } from '../../src/service/checks/ask-check.ts';
import { createAccessCache } from '../../src/service/cluster/access-cache.ts';
import { createClusterCache } from '../../src/service/cluster/cluster-cache.ts';
import { createNamespaceCache } from '../../src/service/cluster/namespace-cache.ts';
import { areConnected, untilSynced, watchPolicies } from '../../src/service/cluster/policy-watches.ts';
import { createSourceListener } from '../../src/service/reconcile/enqueue/enqueue-for-sources.ts';
import { createConsentListener, enqueueForWorkload } from '../../src/service/reconcile/enqueue/enqueue-new-targets.ts';
import type { Foundation } from '../../src/service/compose/foundation.ts';
import { findBaseSource } from '../../src/bases/find-base-source.ts';
import { createConfirmParent, createWhyHeld, followParents } from '../../src/bases/hold-children.ts';
import { openCredentials } from '../../src/service/compose/registries.ts';
import { createSources, createWorkPorts, readContextOf } from '../../src/service/compose/work-ports.ts';
import { createDiscovery } from '../../src/service/kube/discovery.ts';
import { needsLabels } from '../../src/core/model/policy-defaults.ts';
import { processPoll } from '../../src/service/poll/process-poll.ts';
import { noProxies } from '../../src/core/model/proxy.ts';
import { openOutbound } from '../../src/service/proxy/outbound.ts';
import { tickMs } from '../../src/service/poll/poll-schedule.ts';
import { createTick } from '../../src/service/poll/tick.ts';
import type { PolicyJob, PollJob, PushJob } from '../../src/service/queue/jobs.ts';
import type { TickJob } from '../../src/service/queue/producer.ts';
import { readPolicyJob, readPollQueueJob, readPushJob } from '../../src/service/queue/read-job.ts';
import { considerFollowers } from '../../src/service/reconcile/enqueue/enqueue-followers.ts';
import { createTurns } from '../../src/core/async/turns.ts';
import { createEnqueuer } from '../../src/service/reconcile/enqueue/enqueuer.ts';
import { askOnce } from '../../src/service/reconcile/checks/ask-once.ts';
import { processTask } from '../../src/service/reconcile/process-task.ts';
import { foreseePush } from '../../src/service/reconcile/foresee-push.ts';
import { processPush } from '../../src/service/reconcile/process-push.ts';
import { createRegistryClient } from '../../src/service/registry/client.ts';
import { createEvidenceReader } from '../../src/service/vulnerabilities/read-evidence.ts';
import { createLogger } from '../../src/service/telemetry/logger.ts';
import { createMetrics } from '../../src/service/telemetry/metrics.ts';
import type { ApiServer } from './api-server.ts';
import type { CheckEndpoint } from './check-endpoint.ts';
import type { Clock } from './clock.ts';
import type { PushRecords } from './event-log.ts';
import type { FactsModel } from './facts-model.ts';
import { connectToApi, type Watches } from './kube-connection.ts';
import { refuseByRedis, type Network } from './network.ts';
import { runAs, type Process, type Version } from './process.ts';
import type { ScanSource } from './scan-source.ts';
import type { QueueModel } from './queue-model.ts';
import { SimulatedConnections, type HttpServer } from './http-connection.ts';
import { composeBases, createBaseCache } from './replica-bases.ts';
import { olderVersions } from '../harness/resource-group.ts';

/** What a replica is connected to. */
export interface Surroundings {
  readonly clock: Clock;
  readonly network: Network;
  readonly server: ApiServer;
  /** The registry's. */
  readonly registry: HttpServer;
  readonly queue: QueueModel;
  readonly records: PushRecords;
  readonly facts: FactsModel;
  /** What checks are asked with. */
  readonly checks: CheckEndpoint['means'];
  readonly scans: ScanSource;
  /** Whether the definition of BaseImagePolicies is installed. */
  readonly hasBases: boolean;
  /** Errors of our own code, which never are expected. */
  readonly onBug: (error: unknown) => void;
}

/** A running incarnation. */
export interface Replica {
  readonly process: Process;
  readonly watches: Watches;
}

const sweepMs = 60_000;
/** How many of the pushes a replica asks about before it processes them, as if it had stored them itself, and how long it may then take to begin. */
const foreseen = { share: 0.4, mostMs: 2_500 } as const;
const settings: Settings = loadSettings({ env: {} });
const older: Foundation = {
  settings,
  aliases: new Map(),
  olderVersions,
  logger: createLogger('silent'),
  metrics: createMetrics(),
  turns: createTurns(),
  outbound: openOutbound(noProxies),
};
/** What each version is started with. */
const foundations: Readonly<Record<Version, Foundation>> = {
  older,
  newer: { ...older, settings: { ...settings, config: { ...settings.config, crossNamespace: 'deny' } } },
};

/** Starts one. */
export function startReplica(name: string, version: Version, around: Surroundings): Replica {
  const process: Process = { name, version, isDead: false, frozenUntil: 0, skewMs: 0, onDeath: [] };
  const { client, watches } = connectToApi(process, around);
  runAs(process, () => void start(process, client, around).catch(around.onBug));
  return { process, watches };
}

/** The worker's connection to Redis waits until Redis is back, so that its commands do not fail. */
function sendToRedis(network: Network) {
  return <T>(serve: () => T): Promise<T> =>
    network.send({ server: 'redis', what: 'redis', serve, refuse: refuseByRedis, timeoutMs: 3_600_000 });
}

async function start(process: Process, client: ReturnType<typeof connectToApi>['client'], around: Surroundings): Promise<void> {
  const foundation = foundations[process.version];
  const { config } = foundation.settings;
  const { logger } = foundation;
  const { clock, network, queue, records, registry, facts, hasBases, onBug } = around;
  const rules = namespaceRulesOf(config);
  const watched = { namespaces: config.watch.namespaces, logger };
  const namespaces = createNamespaceCache({ ...watched, usesLabels: needsLabels(rules) }, client);
  const baseCache = createBaseCache(foundation, client, { rules, labelsOf: namespaces.labelsOf });
  const cache = createClusterCache(
    {
      client,
      discovery: createDiscovery(client, config.customTargets),
      namespaces: [undefined],
      onError: () => undefined,
      now: Date.now,
      random: Math.random,
      otherKinds: baseCache.kinds,
      whyHeld: createWhyHeld(baseCache),
    },
    { rules, labelsOf: namespaces.labelsOf },
  );
  followParents(baseCache, cache);
  const access = createAccessCache({ ...watched, fallback: config.credentials.secret }, client);
  const connection = queue.connect({ send: sendToRedis(network) });
  process.onDeath.push(connection.crash);
  const { queues } = connection;
  const policyWatch = watchPolicies(undefined, { readContext: readContextOf(foundation), logger }, client, cache);
  const registryClient = createRegistryClient({
    registries: config.registries,
    allowedRegistries: config.allowedRegistries,
    credentials: openCredentials(foundation, access.readSecret),
    credentialVersions: ({ access: given }) => [...(given?.secrets ?? []), config.credentials.secret].map(access.versionOf).join(','),
    connections: new SimulatedConnections({ clock, network, server: registry }),
  });
  const common = createWorkPorts(foundation, {
    client,
    cache,
    access,
    namespaces,
    isWatching: () => areConnected([policyWatch]),
    policyWatchOf: () => policyWatch.reflector,
    policyWatches: () => [policyWatch],
    confirmations: [createConfirmParent(baseCache, cache, namespaces)],
    registry: registryClient,
    queues,
    recorder: { record: () => undefined, flush: () => Promise.resolve() },
    eventLog: records.connect(),
    reads: { remember: () => undefined, forget: () => undefined, has: () => Promise.resolve(true) },
    findSources: [findBaseSource(baseCache.policies, createSources(foundation, { cache, access }).sourceOf)],
    finds: { isAnnounced: () => Promise.resolve(true), countWith: () => Promise.resolve(undefined), add: () => Promise.resolve(undefined) },
    trustRoot: undefined,
    notices: { onPolicyStatus: () => Promise.resolve(), add: () => Promise.resolve() },
    traces: { remember: () => undefined },
  });
  const bases = composeBases(foundation, connection, {
    client,
    cache: baseCache,
    cluster: cache,
    namespaces,
    registry: registryClient,
    facts,
    dependents: { keep: () => Promise.resolve(), read: () => Promise.resolve(undefined) },
    ports: common,
    readSecret: access.readSecret,
  });
  const vulnerabilities = { read: createEvidenceReader([around.scans.source]) };
  const ports = { ...common, vulnerabilities, bases: { onPush: bases.part.onPush } };
  const enqueuer = createEnqueuer({
    ...ports,
    turns: foundation.turns,
    onError(error) {
      if (!(error instanceof Error) || !/simulated|broke|no complete answer/.test(error.message)) onBug(error);
    },
  });
  await Promise.all([access.start(), namespaces.start(), untilSynced([policyWatch])]);
  if (hasBases) bases.part.start([undefined]);
  await cache.synced();
  cache.policies.subscribe((change) => {
    enqueuer.onPolicy(change);
    considerFollowers(change, cache, enqueuer);
  });
  const considerSource = createSourceListener(cache, ports.cluster, enqueuer);
  cache.listen({
    onKindReady: () => enqueuer.resync(),
    onWorkload(change) {
      enqueueForWorkload(change, cache, ports.cluster, enqueuer);
      considerSource(change);
    },
  });
  namespaces.onConsent(createConsentListener(cache, ports.cluster, enqueuer));
  const askCheck = createAskCheck({
    ...around.checks,
    client,
    servers: [],
    jobs: false,
    analysis: false,
    checkSecret: async () => 'secret',
    now: Date.now,
  });
  const tick = createTick(ports);
  const workers = [
    connection.createWorker<PushJob>({
      queue: 'push',
      concurrency: 256,
      read: readPushJob,
      random: Math.random,
      async process(job, context) {
        // A process that stores a push asks the registry about it, and may be slow to begin with it.
        if (!context.isRepeated && Math.random() < foreseen.share) {
          await foreseePush(job, ports);
          await delay(Math.random() * foreseen.mostMs);
        }
        return processPush(job, context, ports);
      },
    }),
    connection.createWorker<PolicyJob>({
      queue: 'policy',
      concurrency: 256,
      read: readPolicyJob,
      random: Math.random,
      process: (job, context) => processTask(job, context, ports),
    }),
    connection.createWorker<PolicyJob>({
      queue: 'check',
      concurrency: 32,
      read: readPolicyJob,
      random: Math.random,
      process: (job, { signal }) => askOnce(job, { ...ports, askCheck }, signal),
    }),
    connection.createWorker<PollJob | TickJob>({
      queue: 'poll',
      concurrency: 32,
      read: readPollQueueJob,
      random: Math.random,
      process: (job, context) => ('repository' in job ? processPoll(job, context, ports) : tick()),
      longestPauseMs: (job) => ('intervalMs' in job ? job.intervalMs : sweepMs),
    }),
  ];
  for (const worker of workers) worker.start();
  if (hasBases) bases.start();
  const maintain = () => {
    queues.scheduleTick(tickMs).catch(() => undefined);
    enqueuer.resync();
    if (hasBases) bases.part.enqueuer.resync();
    cache.updateWatches();
  };
  maintain();
  setInterval(maintain, sweepMs);
}
