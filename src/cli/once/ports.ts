/** The ports of the processors for one run in this process, with the rights of the user: no watch, no queue, no Redis. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Config } from '../../service/config/settings.ts';
import { createEventRecorder } from '../../service/kube/record-event.ts';
import { readSecretContent } from '../../service/kube/secrets.ts';
import { describeError } from '../../core/model/errors.ts';
import type { PolicyTarget } from '../../core/model/image-policy.ts';
import { pullAccess, type SecretRef } from '../../core/model/image-source.ts';
import { resolveTarget } from '../../core/model/resolve-target.ts';
import type { EventLog } from '../../service/queue/event-log.ts';
import { createAnnouncements } from '../../service/reconcile/announcements.ts';
import { createDeniedPushes } from '../../service/reconcile/denied-pushes.ts';
import type { Ports, Registry, Report } from '../../service/reconcile/ports.ts';
import { createSharedAnswers, createTagMemory } from '../../service/reconcile/registry-memory.ts';
import type { RegistryClient } from '../../service/registry/client.ts';
import { credentialSources } from '../../service/registry/credentials/index.ts';
import { createLogger } from '../../service/telemetry/logger.ts';
import { createMetrics } from '../../service/telemetry/metrics.ts';
import { createImageVerifier } from '../../service/verify/image-verifier.ts';
import { readTrustRoot } from '../../service/verify/trust.ts';
import { openRegistry } from '../../service/command-line/user-registry.ts';
import { type Cluster, createCluster, type RunMeans } from './cluster.ts';
import type { RunPolicies } from './policies.ts';

export interface Run {
  readonly ports: Ports & { readonly policies: RunPolicies };
  /** Why registries failed, with the details that the status of a policy must not show to its author. */
  details(): readonly string[];
  close(): Promise<void>;
}

const eventsDeadlineMs = 5_000;

/**
 * Opens the ports. `dockerConfig` is the file with the user's credentials, if it is not the default one. Throws an Error if the configuration names a trust
 * root that cannot be used.
 */
export function openRun(policies: RunPolicies, means: RunMeans & { readonly dockerConfig?: string | undefined }): Run {
  const { client, config, dockerConfig, isTrial } = means;
  const trustRoot = openTrustRoot(config);
  const readSecret = (secret: SecretRef) => readSecretContent(client, secret);
  const details = new Set<string>();
  const pullSecrets = credentialSources['pull-secrets']({ readSecret });
  const { registry } = openRegistry(config, dockerConfig, [pullSecrets], isTrial ? undefined : (why) => details.add(why));
  const recorder = createEventRecorder({ client, component: 'image-watcher', instance: hostname() });
  const cluster = createCluster(policies, means);
  const verify = createImageVerifier({ registry, trustRoot, readSecret });
  const recordEvent: Report['recordEvent'] = (event) => {
    const { namespace, name, uid } = event.regarding;
    const policy = policies.find(namespace, name);
    // A policy of a file is not an object in the cluster, so it cannot have Events.
    const isOfFile = policy?.uid === uid && policies.known(`${namespace}/${name}`)?.isStored !== true;
    if (!isTrial && !isOfFile) recorder.record(event);
  };
  return {
    ports: {
      policies,
      cluster: cluster.cluster,
      workloads: cluster.workloads,
      registry: createRegistry(registry, cluster),
      signatures: { verify },
      report: { recordEvent, eventLog: noLog, metrics: createMetrics(), logger: createLogger('silent') },
      queues: { addPolicyJobs: async () => {}, repeatPushes: async () => {} },
      bases: { onPush: async () => [] },
    },
    details: () => [...details],
    async close() {
      await recorder.flush(eventsDeadlineMs);
      await registry.close();
    },
  };
}

/** An event log without effect, because only pushes have a record. */
const noLog: EventLog = {
  unwatched: async () => {},
  matched: async () => {},
  recordResult: async () => {},
  unfinished: async () => [],
  recordGivenUp: async () => {},
};

function createRegistry(client: RegistryClient, { cluster, pullSecretsOf }: Cluster): Registry {
  const workloadsOf = (target: PolicyTarget) => resolveTarget(target, cluster);
  return {
    sourceOf(policy, spec) {
      const access = pullAccess(policy, spec, { workloadsOf, pullSecretsOf });
      return access === undefined ? spec.repository : { ...spec.repository, access };
    },
    headManifest: (source, tag, signal, purpose) =>
      purpose === 'use' ? client.resolveTag(source, tag, signal) : client.headManifest(source, tag, signal),
    listTags: (source, signal) => client.listTags(source, signal),
    readImage: (source, reference, signal) => client.readImage(source, reference, signal),
    readPlatforms: (source, reference, signal) => client.readPlatforms(source, reference, signal),
    whyNotRunnable: (source, digest, signal) => client.whyNotRunnable(source, digest, signal),
    hasRead: async () => false,
    tagMemory: createTagMemory(),
    sharedAnswers: createSharedAnswers(Date.now),
    deniedPushes: createDeniedPushes(Date.now),
    announcements: createAnnouncements({ now: Date.now, elapsed: () => performance.now() }),
  };
}

function openTrustRoot({ verification: { trustRootFile: file } }: Config): ReturnType<typeof readTrustRoot> | undefined {
  if (file === undefined) return undefined;
  try {
    return readTrustRoot(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file}: ${describeError(error)}`, { cause: error });
  }
}
