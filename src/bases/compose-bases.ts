/** The part of the role `work` that reconciles BaseImagePolicies. */
import { baseKey } from '../core/model/base-policy.ts';
import { defined } from '../core/model/defined.ts';
import { BoundedMap } from '../core/async/bounded-map.ts';
import { DigestMemory } from './policies/digest-memory.ts';
import { createBaseEnqueuer, jobFor, type BaseEnqueuer } from './policies/enqueue-bases.ts';
import { PolicyChanged } from './policies/brake.ts';
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
import { baseResource } from '../service/resources/group.ts';
import type { ClusterCache } from '../service/cluster/cluster-cache.ts';
import type { NamespaceCache } from '../service/cluster/namespace-cache.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { isKubeError } from '../service/kube/kube-error.ts';
import { objectPath } from '../service/kube/objects.ts';
import { patchStatus } from '../service/kube/patch-status.ts';
import { isActiveBase } from '../core/model/base-policy.ts';
import { readBaseStatus } from '../core/model/base-status.ts';
import { describeError } from '../core/model/errors.ts';
import { matchesSelector } from '../core/model/label-selector.ts';
import { isAsPlanned } from '../core/model/same-base-plan.ts';
import { isNewer } from '../core/model/workload.ts';
import type { BaseJob } from '../service/queue/jobs.ts';
import type { WorkQueues } from '../service/queue/producer.ts';
import type { JobContext } from '../service/queue/worker.ts';
import type { RebuildPorts } from './policies/request-rebuilds.ts';
import { hintOf } from '../service/reconcile/fan-out-push.ts';
import type { Ports } from '../service/reconcile/ports.ts';
import { createKnownOrigins } from '../service/registry/known-origins.ts';
import { createOriginReader } from '../service/registry/origins.ts';
import type { RegistryClient } from '../service/registry/client.ts';
import type { ReadSecret } from '../service/registry/credentials/secret-offer.ts';
import { createBaseActions } from './base-actions.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import type { NoticeSink } from '../core/model/notice-sink.ts';
import { baseNotices } from './policies/base-notices.ts';

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
const maxWaits = 10_000;

/** Builds the part of BaseImagePolicies. It does not connect before it is started. */
export function composeBasePolicies(foundation: Foundation, means: BaseMeans): BasePart {
  const { cache, queues, isSelected } = means;
  const { logger } = foundation;
  const all = () => [...cache.policies.values()].filter(({ namespace }) => isSelected(namespace));
  const ports = createBasePorts(foundation, means);
  const restartsOnPush = createRestartsOnPush(ports.cluster);
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
    async onPush({ id, repository, tag, digest }) {
      const hint = hintOf({ repository, tag, ...defined({ digest }) });
      const watching = cache.match(repository).filter((policy) => isSelected(policy.namespace) && isActiveBase(policy));
      const running = all().filter(
        (policy) => !watching.includes(policy) && isActiveBase(policy) && restartsOnPush.concerns(policy, repository),
      );
      await queues.addBaseJobs([
        ...watching.map((policy) => ({ ...jobFor(policy, 'Webhook', `push:${id}`, Date.now()), eventId: id, hint })),
        ...running.map((policy) => ({ ...jobFor(policy, 'TargetChange', `image:${id}`, Date.now()), pushed: repository, hint })),
      ]);
      return watching.map(baseKey);
    },
    follow(cluster) {
      cache.policies.subscribe(() => cluster.workloads.startWatches(cache.kinds()));
      cluster.policies.subscribe(({ object }) => enqueuer.onImagePolicy(object));
      cluster.listen({
        onKindReady: () => undefined,
        onWorkload(change) {
          restartsOnPush.onWorkload(change);
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

const pathOf = (namespace: string, name: string) => objectPath(baseResource, namespace, name);

function createBasePorts(
  foundation: Foundation,
  {
    client,
    cache,
    namespaces,
    registry,
    queues,
    facts,
    dependents,
    reported,
    rebuilds,
    ports,
    readSecret,
    notices,
    isSelected,
    listEveryWorkload,
  }: BaseMeans,
): BasePorts & { readonly records: RecordStore } {
  const { aliases } = foundation;
  const basePolicies: BasePolicies = {
    all: () => cache.policies.values(),
    find: (namespace, name) => (isSelected(namespace) ? cache.policies.get(namespace, name) : undefined),
    async read(namespace, name, signal) {
      const policy = await cache.read({ namespace, name }, signal);
      return isSelected(namespace) ? policy : undefined;
    },
    async isAsPlanned(planned, base, signal) {
      const { object } = await cache.readConfirmed(planned, signal);
      return isAsPlanned(planned, object, base) && isSelected(planned.namespace);
    },
    subscribe: cache.policies.subscribe,
    async writeStatus(policy, update, { signal, eventId, isExclusive = false }) {
      const cached = cache.policies.get(policy.namespace, policy.name);
      const isBehind = cached?.uid !== policy.uid || isNewer(policy.resourceVersion, cached.resourceVersion);
      const written = await patchStatus({
        client,
        path: pathOf(policy.namespace, policy.name),
        current: isBehind || isExclusive ? policy : cached,
        update: (status) => update(readBaseStatus(status)),
        beforeWrite: (before, after) =>
          notices.add(
            baseNotices(policy, { before: readBaseStatus(before), after: readBaseStatus(after) }, new Date().toISOString(), eventId),
            policy.labels,
          ),
        isExclusive,
        signal,
      }).catch((error: unknown) => {
        throw isExclusive && isKubeError(error, 409) ? new PolicyChanged('its status was written meanwhile') : error;
      });
      return written === undefined ? policy : cache.observe(written);
    },
    underWay: new Set(),
  };
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
    basePolicies,
    cluster: {
      ...ports.cluster,
      namespacesWith: (selector) => namespaces.namesWith(selector).filter(isSelected),
      namespaceMatches: (namespace, selector) => matchesSelector(selector, namespaces.labelsOf(namespace)),
      listEveryWorkload,
    },
    registry: ports.registry,
    signatures: ports.signatures,
    facts: createFactsReader({ registry, store: facts, aliases, now: Date.now }),
    versions: createVersionsMemory(),
    records: createRecordStore({ client, label: { key: parentLabel, valueOf: labelValue }, max: maxVersions }),
    dependents,
    notices,
    reported,
    digests: new DigestMemory(maxDigests),
    waits: new BoundedMap(maxWaits),
    queues,
    report: ports.report,
  };
}
