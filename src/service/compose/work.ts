/** Builds the role `work`: caches → processors → life. */
import { checkKinds, checkReflector, staleSince, workloadReflectors } from '../cluster/policy-watches.ts';
import type { Question } from '../api/access.ts';
import type { FindCauses, PolicyPorts } from '../api/ports.ts';
import type { Route } from '../api/route.ts';
import { createHistoryOrigins } from '../api/history-origins.ts';
import { createPendingOrigins } from '../api/pending-origins.ts';
import { createPolicyFeed } from '../api/stream.ts';
import type { SelectedNamespaces } from '../api/namespaces-api.ts';
import type { RedisConnection } from '../queue/connection.ts';
import type { PushJob } from '../queue/jobs.ts';
import type { RedisHealth } from '../queue/redis-health.ts';
import type { DoctorMeans } from '../doctor-facts/make-report.ts';
import { createKnownOrigins } from '../registry/known-origins.ts';
import { createOriginReader } from '../registry/origins.ts';
import type { Foundation, Part } from './foundation.ts';
import { liveInOrder } from './life.ts';
import { foreseePush } from '../reconcile/foresee-push.ts';
import { measurePolicies } from '../telemetry/measure-policies.ts';
import { openWorkCaches } from './work-caches.ts';
import { workParts } from './work-life.ts';
import type { Adapters } from './work-ports.ts';
import { createProcessors } from './work-processors.ts';
import type { NamedCertificate, NoteActivity, OpenWorkWing } from './work-wing.ts';

/** The connections that the role needs, and the trust root of keyless signatures. */
export interface WorkConnections extends Pick<Adapters, 'client' | 'trustRoot'> {
  /** The connection to Redis that fails fast. */
  readonly failFastRedis: RedisConnection;
  /** Whether the same process stores pushes on the connection that fails fast. */
  readonly storesPushes: boolean;
  readonly redisHealth: () => RedisHealth;
  /** Reads the certificates that wings serve, as far as they can be read. */
  readonly readServedCertificates: () => Promise<readonly NamedCertificate[]>;
}

/** The role `work`, with its views of policies and registries for other parts. */
export type WorkPart = Part & {
  /** Takes a push that this process is storing in the same turn of the event loop, and asks the registry about it. */
  readonly takeStored: (push: PushJob) => void;
  readonly view: Pick<DoctorMeans, 'registry' | 'policies' | 'sourceOf' | 'isWatching' | 'cluster' | 'readTargets'>;
  readonly namespaces: SelectedNamespaces;
  /** The routes that wings add to the API. */
  readonly routes: readonly Route[];
  /** What finds the causes of the wings. */
  readonly causes: readonly FindCauses[];
  /** What wings ask about callers to decide what they show them. */
  readonly sight: readonly Question[];
  /** Records what people asked for. */
  readonly noteActivity: NoteActivity;
  readonly policies: Omit<PolicyPorts, 'noActions' | 'hasAdmissionPolicy' | 'patch' | 'read' | 'readPods'> & {
    /** The time of which the policies are, in ms since 1970; undefined while their watches are connected. */
    readonly staleSince: () => number | undefined;
  };
};

/** Builds the role `work`. */
export function composeWork(foundation: Foundation, connections: WorkConnections, wings: readonly OpenWorkWing[]): WorkPart {
  const caches = openWorkCaches(foundation, connections.client, wings);
  const processors = createProcessors(foundation, caches, connections);
  const feed = createPolicyFeed();
  const life = liveInOrder(workParts(foundation, caches, processors, { feed, redisHealth: connections.redisHealth }));
  const { ports, registry, pushes } = processors;
  const { cluster, namespaces, whyNotSelected, isWatching } = caches;
  const allReflectors = () => [...caches.policyWatches(), ...workloadReflectors(cluster)];
  const readTargets = async () => (await Promise.all(processors.wings.map(async (wing) => (await wing.readTargets?.()) ?? []))).flat();
  const origins = createKnownOrigins(createOriginReader(registry), () => performance.now());
  const { aliases } = foundation;
  const { mayUseRegistry } = ports.cluster;
  const originMeans = { find: origins.find, sourceOf: ports.registry.sourceOf, mayUseRegistry, aliases };
  const optional = () => [caches.access, namespaces, caches.definitions].flatMap((cache) => cache.watches());
  return {
    takeStored(push) {
      if (!pushes.takeStored()) return;
      foreseePush(push, ports).catch((error: unknown) =>
        foundation.logger.debug({ err: error, event: push.id }, 'shared manifest request failed'),
      );
    },
    view: {
      registry,
      policies: ports.policies.all,
      sourceOf: ports.registry.sourceOf,
      isWatching,
      cluster: ports.cluster,
      readTargets,
    },
    policies: {
      areKnown: caches.haveListed,
      staleSince: () => staleSince(caches.policyWatches(), Date.now()),
      all: ports.policies.all,
      find: ports.policies.find,
      followersOf: cluster.followersOf,
      consider: (policy) => ({ policy, why: whyNotSelected(policy.namespace) }),
      originsOf: createPendingOrigins(originMeans),
      changeOriginsOf: createHistoryOrigins(originMeans),
      cluster: ports.cluster,
      feed,
    },
    noteActivity: processors.noteActivity,
    routes: processors.wings.flatMap((wing) => wing.routes ?? []),
    causes: processors.wings.flatMap((wing) => wing.causes ?? []),
    sight: processors.wings.flatMap((wing) => wing.sight ?? []),
    namespaces: { areKnown: namespaces.areLabelsKnown, whyNotSelected },
    checks: () => [...allReflectors().map(checkReflector), ...checkKinds(cluster), ...optional().map((watch) => watch.check())],
    measure() {
      const { metrics, settings } = foundation;
      metrics.policies.set(cluster.policies.size);
      measurePolicies(cluster.policies.values(), settings.config.metrics.policies, metrics);
      metrics.workloads.set(cluster.workloads.size);
      for (const { name, reflector } of [...allReflectors(), ...caches.access.watches(), ...namespaces.watches()])
        metrics.watchConnected.set({ resource: name }, reflector.state().connected ? 1 : 0);
      for (const wing of processors.wings) wing.measure?.();
    },
    start() {
      warnOfLegacy(foundation);
      void life.start();
      return Promise.resolve();
    },
    stop(deadlineMs) {
      origins.stop();
      return life.stop(deadlineMs);
    },
  };
}

function warnOfLegacy({ settings, logger }: Foundation): void {
  if (settings.config.crossNamespace === 'legacy')
    logger.warn(
      {},
      'crossNamespace: legacy lets policies update workloads of other namespaces without consent: run "image-watcher consents", then use consent',
    );
}
