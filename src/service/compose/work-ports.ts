import { readPolicy } from '../resources/read-policy.ts';
import type { ReadContext } from '../resources/read-spec.ts';
import { confirmAll } from '../../core/model/confirmation.ts';
import type { ImagePolicy, PolicySpec, PolicyTarget } from '../../core/model/image-policy.ts';
import { normaliseRegistry } from '../../core/model/image-reference.ts';
import { pullAccess } from '../../core/model/image-source.ts';
import type { OnAnswered } from '../../core/model/server-clock.ts';
import { resolveTarget } from '../../core/model/resolve-target.ts';
import { verificationSecrets } from '../../core/model/verification.ts';
import { rollsOut, type Workload } from '../../core/model/workload.ts';
import { consentTo } from '../../core/plan/consent.ts';
import { maySee } from '../../core/plan/proven.ts';
import type { KubeClient } from '../kube/client.ts';
import { listSelected, readWorkload } from '../kube/read-workload.ts';
import { patchConfirmed } from '../kube/patch-images.ts';
import { readRolloutPods } from '../kube/read-rollout-pods.ts';
import { objectPath, readObject } from '../kube/objects.ts';
import type { EventRecorder } from '../kube/record-event.ts';
import { createReportDeferral, type ReportDeferral } from '../reconcile/defer-reports.ts';
import { createPollGate } from '../poll/poll-gate.ts';
import { pollSlotsOf } from '../poll/poll-slots.ts';
import type { PollPorts } from '../poll/process-poll.ts';
import type { EventLog } from '../queue/event-log.ts';
import type { WorkQueues } from '../queue/producer.ts';
import type { ReadRepositories } from '../queue/read-repositories.ts';
import type { TraceMemory } from '../queue/trace-memory.ts';
import type { UnannouncedFinds } from '../queue/unannounced-finds.ts';
import type { Reflector } from '../kube/reflector.ts';
import type { RegistryClient } from '../registry/client.ts';
import { createBoundedLabel, maxRegistryLabels } from '../telemetry/metrics.ts';
import { createImageVerifier } from '../verify/image-verifier.ts';
import type { ReadSecret } from '../verify/public-keys.ts';
import { createAllEvidence } from '../vulnerabilities/evidence-sources.ts';
import { createRecentPushes } from '../reconcile/recent-pushes.ts';
import { createKeyedMutex } from '../../core/async/serialize.ts';
import { onlySelected } from '../reconcile/selected-view.ts';
import type { ClusterView, Policies, Ports, Registry, Report, Workloads } from '../reconcile/ports.ts';
import { createRegistryMemory } from '../reconcile/registry-memory.ts';
import { createImageListReader, createRevisionReader } from '../registry/origins.ts';
import type { AccessCache } from '../cluster/access-cache.ts';
import { awaitTargets, type ClusterCache } from '../cluster/cluster-cache.ts';
import { policyResource } from '../resources/group.ts';
import { createVersionReader } from '../cluster/read-versions.ts';
import { createListCheck, type ListSources } from '../cluster/check-list.ts';
import { createPolicyCheck } from '../cluster/check-policy.ts';
import type { Foundation, TrustRoot } from './foundation.ts';
import type { NamespaceCache } from '../cluster/namespace-cache.ts';
import type { NoticeSink } from '../../core/model/notice-sink.ts';
import { createFindSource, type FindSource, proveReads, recordReads } from '../reconcile/read-proofs.ts';
import { createStatusWriter } from '../cluster/write-policy-status.ts';

/** The context that reading a policy depends on. */
export function readContextOf({ settings, aliases, olderVersions }: Foundation): ReadContext {
  const { customTargets, admissionPolicy } = settings.config;
  return { aliases, customTargets, olderVersions, verifiesApprovers: admissionPolicy };
}

/** The adapters that the ports use. */
export interface Adapters {
  readonly client: KubeClient;
  readonly cache: ClusterCache;
  readonly access: AccessCache;
  readonly namespaces: NamespaceCache;
  readonly isWatching: () => boolean;
  /** The watch that reports the policies of a namespace. */
  readonly policyWatchOf: (namespace: string) => Pick<Reflector, 'state' | 'reconnect'> | undefined;
  /** The confirmations of wings. Each returns when it was true that the policy may be acted for, or undefined if it may not any more. */
  readonly confirmations: readonly Policies['confirm'][];
  readonly policyWatches: ListSources['watches'];
  readonly registry: RegistryClient;
  readonly queues: WorkQueues;
  readonly recorder: EventRecorder;
  readonly eventLog: EventLog;
  readonly reads: ReadRepositories;
  /** The functions with which wings find the sources of their objects. */
  readonly findSources: readonly FindSource[];
  readonly finds: UnannouncedFinds;
  readonly trustRoot: TrustRoot | undefined;
  readonly notices: NoticeSink;
  readonly traces: Pick<TraceMemory, 'remember'>;
}

/** Creates the real ports of the processors; tests pass their own. */
export function createWorkPorts(foundation: Foundation, adapters: Adapters): Omit<PollPorts, 'bases'> {
  const { queues, finds } = adapters;
  const reportDeferral = createReportDeferral({ quietMs: 30, atMostMs: 1_000 });
  const sources = createSources(foundation, adapters);
  const readers = { readRevision: createRevisionReader(adapters.registry), readImageList: createImageListReader(adapters.registry) };
  return {
    policies: createPolicies(foundation, adapters, sources),
    cluster: createClusterView(foundation, adapters),
    workloads: createWorkloads(foundation, adapters, reportDeferral),
    registry: {
      ...proveReads({ ...adapters.registry, ...readers }, adapters.reads),
      ...createRegistryMemory({ now: Date.now, elapsed: () => performance.now() }),
      sourceOf: sources.sourceOf,
    },
    ...createProofs(adapters),
    report: createReport(foundation, adapters, sources, reportDeferral),
    queues,
    poll: {
      gate: createPollGate({ slotsOf: pollSlotsOf(foundation.settings.config.registries), now: Date.now, random: Math.random }),
      finds,
      registryLabel: createBoundedLabel(maxRegistryLabels),
      notify: ({ labels }, notice) => adapters.notices.add([notice], labels),
    },
  };
}

/** Creates the sources of policies: on whose behalf registries are requested, with the versions of the Secrets. */
export function createSources(
  { settings: { config } }: Foundation,
  { cache, access }: Pick<Adapters, 'cache' | 'access'>,
): Pick<Registry, 'sourceOf'> & Pick<Policies, 'secretVersions'> {
  const workloadsOf = (target: PolicyTarget) => resolveTarget(target, cache);
  const accessOf = (policy: ImagePolicy, spec: PolicySpec) =>
    pullAccess(policy, spec, { workloadsOf, pullSecretsOf: access.pullSecretsOf });
  return {
    sourceOf(policy, spec) {
      const pull = accessOf(policy, spec);
      return pull === undefined ? spec.repository : { ...spec.repository, access: pull };
    },
    secretVersions(policy, spec) {
      const secrets = [...(accessOf(policy, spec)?.secrets ?? []), config.credentials.secret, ...verificationSecrets(policy)];
      return secrets.map(access.versionOf).join(',');
    },
  };
}

function createPolicies(
  foundation: Foundation,
  { client, cache, namespaces, isWatching, policyWatchOf, policyWatches, confirmations, notices }: Adapters,
  { secretVersions }: Pick<Policies, 'secretVersions'>,
): Policies {
  const readContext = readContextOf(foundation);
  const readWritten = async (namespace: string, name: string, signal?: AbortSignal, onAnswered?: OnAnswered) => {
    const raw = await readObject<unknown>(client, objectPath(policyResource, namespace, name), signal, onAnswered);
    return raw === undefined ? undefined : readPolicy(raw, readContext, cache.written.get(namespace, name));
  };
  const confirmPolicy = createPolicyCheck({
    policies: cache.written,
    watchOf: policyWatchOf,
    readPolicy: readWritten,
    readVersion: createVersionReader(client),
  });
  return {
    all: () => cache.policies.values(),
    find: cache.findPolicy,
    match: cache.matchPolicies,
    matchCompanions: cache.matchCompanions,
    matchUnselected: cache.matchUnselected,
    isWatching,
    recentPushes: createRecentPushes(Date.now),
    isComplete: createListCheck({ client, resource: policyResource, store: cache.written, watches: policyWatches }),
    async read(namespace, name, signal, onAnswered) {
      const policy = await readWritten(namespace, name, signal, onAnswered);
      // The labels are read again if another replica made the job, because our watch of the Namespaces may be behind.
      if (policy !== undefined && !cache.isSelected(namespace)) await namespaces.readLabels(namespace, signal);
      return policy && cache.effective(policy);
    },
    async confirm(policy, signal) {
      const confirmedAt = await confirmAll([
        () => confirmPolicy(policy, signal),
        ...confirmations.map((confirm) => () => confirm(policy, signal)),
      ]);
      const { namespace, name, generation, spec } = policy;
      const written = cache.written.get(namespace, name);
      // The labels of the policy's namespace may have given it other defaults.
      const hasOtherSpec = written?.generation === generation && cache.effective(written)?.spec !== spec;
      return cache.isSelected(namespace) && !hasOtherSpec ? confirmedAt : undefined;
    },
    secretVersions,
    writeStatus: createStatusWriter({ client, cache, notices, readContext }),
    mutex: createKeyedMutex(),
  };
}

/** The view of the workloads of selected namespaces. */
function createClusterView({ settings: { config }, aliases }: Foundation, { cache, namespaces, trustRoot }: Adapters): ClusterView {
  const { crossNamespace, guards, allowedRegistries } = config;
  const { namespaceConsent } = namespaces;
  return {
    ...onlySelected(cache, cache.isSelected, { crossNamespace, namespaceConsent }),
    namespaceVersion: namespaces.versionOf,
    namespaceConsent,
    crossNamespace,
    mayUseRegistry: isAllowed(allowedRegistries),
    hasTrustRoot: trustRoot !== undefined,
    repeatsPerHour: guards.repeatsPerHour,
    aliases,
    policiesOf: (workload) =>
      cache.policiesOf(workload, (policy) => consentTo(workload, policy, { crossNamespace, namespaceConsent }).granted),
    findPolicy: cache.findPolicy,
    isFollowed: (policy) => cache.followersOf(policy).some((follower) => maySee(follower, policy, { crossNamespace, namespaceConsent })),
    now: Date.now,
  };
}

function createWorkloads(
  { metrics }: Foundation,
  { client, cache, namespaces, traces }: Adapters,
  reportDeferral: ReportDeferral,
): Workloads {
  const remember = (workload: Workload) => cache.workloads.observe(workload);
  return {
    awaitTargets: (policy, spec, signal) => awaitTargets(policy, spec, cache, signal),
    async read(ref, signal, onAnswered) {
      if (!cache.isSelected(ref.namespace)) return undefined;
      const workload = await readWorkload(client, ref, { signal, target: cache.workloads.targetOf(ref), onAnswered });
      if (workload !== undefined) remember(workload);
      return workload;
    },
    async readSelected(target, signal) {
      if (!cache.isSelected(target.namespace)) return [];
      const found = await listSelected(client, cache.workloads.targetOf(target), target, signal);
      for (const workload of found) remember(workload);
      return found;
    },
    readPods: (workload, signal, onAnswered) => readRolloutPods(client, workload, signal, onAnswered),
    readConsent: namespaces.readNamespaceConsent,
    refreshConsents: namespaces.readNamespaceConsents,
    async patchImages(workload, changes, options, signal) {
      const target = cache.workloads.targetOf(workload);
      // Only rollouts are checked later. Another replica may see the rollout before this one has the response, so the trace is stored before the patch.
      const policyUid = rollsOut(workload) ? changes.find(({ update }) => update !== undefined)?.update?.policy : undefined;
      if (policyUid !== undefined) traces.remember(policyUid);
      const result = await reportDeferral.change(() => patchConfirmed(client, workload, changes, { ...options, signal, target }));
      if (result.kind === 'patched') remember(result.workload);
      if (result.kind === 'conflict') metrics.patchConflicts.inc();
      return result;
    },
  };
}

/** What is signed, and what is known of vulnerabilities. */
function createProofs({ client, registry, access, trustRoot }: Adapters): Pick<Ports, 'signatures' | 'vulnerabilities'> {
  const readSecret: ReadSecret = (secret) => access.readSecret(secret, { refresh: false });
  const options = { registry, trustRoot, readSecret };
  const read = createAllEvidence({ ...options, client, elapsed: () => performance.now() });
  return { signatures: { verify: createImageVerifier(options) }, vulnerabilities: { read } };
}

function createReport(
  { logger, metrics }: Foundation,
  { recorder, eventLog, reads, cache, findSources }: Adapters,
  { sourceOf }: Pick<Registry, 'sourceOf'>,
  reportDeferral: ReportDeferral,
): Report {
  return {
    recordEvent: recorder.record,
    eventLog: recordReads(eventLog, createFindSource(cache.findPolicy, findSources, sourceOf), reads),
    metrics,
    logger,
    untilPatched: reportDeferral.untilIdle,
  };
}

function isAllowed(hosts: readonly string[]): (registry: string) => boolean {
  const allowed = new Set(hosts.map((host) => normaliseRegistry(host)));
  return (registry) => allowed.size === 0 || allowed.has(registry);
}
