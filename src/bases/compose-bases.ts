/** The part of the role `work` that reconciles BaseImagePolicies. */
import type { BaseImagePolicy } from '../core/model/base-policy.ts';
import { BoundedMap } from '../core/async/bounded-map.ts';
import { DigestMemory } from './policies/digest-memory.ts';
import { createBaseEnqueuer, type BaseEnqueuer } from './policies/enqueue-bases.ts';
import { createOnPush, type OnPushPorts } from './policies/on-push.ts';
import { labelValue, parentLabel } from './policies/child-policies.ts';
import { maxVersions } from './policies/learn-versions.ts';
import type { BasePolicies, BasePorts } from './policies/ports.ts';
import { processBaseJob } from './policies/reconcile-base.ts';
import { createRestartsOnPush } from './policies/restarts-on-push.ts';
import { baseSourceOf, createVersionsMemory } from './policies/select-base.ts';
import { createFactsReader, type FactsStore } from './recognize/facts-reader.ts';
import { createBaseOrigins } from './api/base-origins.ts';
import type { BaseView } from './api/view.ts';
import type { DependentsStore } from './record/kept-dependents.ts';
import { createRecordStore, type RecordStore } from './record/record-store.ts';
import type { BasePolicyCache } from './base-policy-cache.ts';
import type { ClusterCache } from '../service/cluster/cluster-cache.ts';
import type { NamespaceCache } from '../service/cluster/namespace-cache.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { describeError } from '../core/model/errors.ts';
import { matchesSelector } from '../core/model/label-selector.ts';
import type { BaseJob } from '../service/queue/jobs.ts';
import type { WorkQueues } from '../service/queue/producer.ts';
import type { JobContext } from '../service/queue/worker.ts';
import type { RebuildPorts } from './policies/request-rebuilds.ts';
import type { Ports } from '../service/reconcile/ports.ts';
import { createKnownOrigins } from '../service/registry/known-origins.ts';
import { createOriginReader } from '../service/registry/origins.ts';
import type { RegistryClient } from '../service/registry/client.ts';
import type { ReadSecret } from '../service/registry/credentials/secret-offer.ts';
import { createBaseActions } from './base-actions.ts';
import { createBasePolicies } from './base-policies.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import type { NoticeSink } from '../core/model/notice-sink.ts';

/** What the reconcile of BaseImagePolicies shares with the rest of the role. */
export interface BaseMeans {
  readonly client: KubeClient;
  readonly cache: BasePolicyCache;
  readonly namespaces: NamespaceCache;
  readonly registry: RegistryClient;
  readonly queues: Pick<WorkQueues, 'addBaseJobs'>;
  /** The store of facts about images. */
  readonly facts: FactsStore;
  /** The store of all dependents of each policy. */
  readonly dependents: DependentsStore;
  readonly reported: BasePorts['reported'];
  readonly rebuilds: RebuildPorts['rebuilds'];
  readonly ports: Omit<Ports, 'bases'>;
  readonly readSecret: ReadSecret;
  readonly notices: Pick<NoticeSink, 'add'>;
  readonly isSelected: (namespace: string) => boolean;
  readonly listEveryWorkload: BasePorts['cluster']['listEveryWorkload'];
}

/** The part of the role `work` that reconciles BaseImagePolicies. */
export interface BasePart {
  readonly cache: BasePolicyCache;
  readonly enqueuer: BaseEnqueuer;
  /** The processor of the queue `base`. */
  readonly process: (job: BaseJob, context: JobContext) => Promise<void>;
  /** Reads policies from the API server. The cache may not have a base yet that another replica has just selected. */
  readonly confirmed: Pick<BasePolicies, 'read' | 'isAsPlanned'>;
  readonly onPush: Ports['bases']['onPush'];
  /** What the API shows. */
  readonly view: BaseView;
  /** Begins to enqueue policies when the ImagePolicies, workloads or Namespaces change that they depend on. */
  follow(cluster: Pick<ClusterCache, 'policies' | 'workloads' | 'listen'>): void;
  /** Starts the watches of these namespaces; `undefined` stands for all namespaces. */
  start(namespaces: readonly (string | undefined)[]): void;
  /** Ends what is read for pages. */
  stop(): void;
}

const maxDigests = 10_000;
/** How many policies have their last images remembered. */
const maxListing = 1_000;
const maxWaits = 10_000;

/** Builds the part of BaseImagePolicies. It does not connect before it is started. */
export function composeBasePolicies(foundation: Foundation, means: BaseMeans): BasePart {
  const { cache, queues, isSelected } = means;
  const { logger } = foundation;
  const selected = (policies: Iterable<BaseImagePolicy>) => [...policies].filter(({ namespace }) => isSelected(namespace));
  const all = () => selected(cache.policies.values());
  const match: OnPushPorts['match'] = (repository) => selected(cache.match(repository));
  const ports = createBasePorts(foundation, means);
  const restarts = createRestartsOnPush(ports.cluster);
  const origins = createKnownOrigins(createOriginReader(means.registry), () => performance.now());
  const enqueuer = createBaseEnqueuer({
    all,
    areKnown: cache.areKnown,
    addBaseJobs: queues.addBaseJobs,
    namespaceMatches: ports.cluster.namespaceMatches,
    isListed: ({ kind, namespace }) => ports.cluster.targetState({ kind, namespace, name: '' }, { namespace }) !== 'starting',
    now: Date.now,
    onError: (error) => logger.warn({ why: describeError(error) }, 'jobs not enqueued, will be repeated'),
  });
  return {
    cache,
    enqueuer,
    process: (job, context) => processBaseJob(job, context, ports),
    confirmed: ports.basePolicies,
    view: {
      areKnown: cache.areKnown,
      all: () => cache.policies.values(),
      find: cache.policies.get,
      originsOf: createBaseOrigins(origins, (policy) => baseSourceOf(policy, ports.registry), ports.cluster.mayUseRegistry),
      feed: cache.policies,
      readKept: means.dependents.read,
      readVersions: ports.records.read,
      images: ports.cluster,
      now: Date.now,
    },
    onPush: createOnPush({ all, match, restartsFor: restarts.concerns, addBaseJobs: queues.addBaseJobs, now: Date.now }),
    follow(cluster) {
      cache.policies.subscribe(() => cluster.workloads.startWatches(cache.kinds()));
      cluster.policies.subscribe(({ object }) => enqueuer.onImagePolicy(object));
      cluster.listen({
        onKindReady: () => undefined,
        onWorkload(change) {
          restarts.onWorkload(change);
          enqueuer.onWorkload(change);
        },
      });
      means.namespaces.subscribe(enqueuer.onNamespace);
    },
    start(watched) {
      cache.policies.subscribe((change) => {
        if (isSelected(change.object.namespace)) enqueuer.onPolicy(change);
      });
      cache.start(watched);
    },
    stop: origins.stop,
  };
}

function createBasePorts(foundation: Foundation, means: BaseMeans): BasePorts & { readonly records: RecordStore } {
  const { client, namespaces, registry, facts, dependents, reported, rebuilds, ports, readSecret, notices, isSelected } = means;
  return {
    ...createBaseActions(foundation, client, {
      registry,
      readSecret,
      verify: ports.signatures.verify,
      rebuilds,
      readWorkload: (workload, signal) => ports.workloads.read(workload, signal),
      isSelected,
      readConsent: namespaces.readNamespaceConsent,
    }),
    basePolicies: createBasePolicies(means),
    cluster: {
      ...ports.cluster,
      namespacesWith: (selector) => namespaces.namesWith(selector).filter(isSelected),
      namespaceMatches: (namespace, selector) => matchesSelector(selector, namespaces.labelsOf(namespace)),
      listEveryWorkload: means.listEveryWorkload,
    },
    registry: ports.registry,
    signatures: ports.signatures,
    facts: createFactsReader({ registry, store: facts, aliases: foundation.aliases, now: Date.now }),
    versions: createVersionsMemory(),
    records: createRecordStore({ client, label: { key: parentLabel, valueOf: labelValue }, max: maxVersions }),
    dependents,
    notices,
    reported,
    digests: new DigestMemory(maxDigests),
    listed: new BoundedMap(maxListing),
    waits: new BoundedMap(maxWaits),
    queues: means.queues,
    report: ports.report,
  };
}
