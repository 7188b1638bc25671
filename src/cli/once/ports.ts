/** The ports of the processors for one run in this process, with the rights of the user: no watch, no queue, no Redis. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Config } from '../../service/config/settings.ts';
import { createEventRecorder } from '../../service/kube/record-event.ts';
import { readSecretContent } from '../../service/kube/secrets.ts';
import { defined } from '../../core/model/defined.ts';
import { describeError } from '../../core/model/errors.ts';
import type { PolicyTarget } from '../../core/model/image-policy.ts';
import { pullAccess, type SecretRef } from '../../core/model/image-source.ts';
import { resolveTarget } from '../../core/model/resolve-target.ts';
import type { Ports, Registry, Report } from '../../service/reconcile/ports.ts';
import { createRegistryMemory } from '../../service/reconcile/registry-memory.ts';
import { credentialSources } from '../../service/registry/credentials/index.ts';
import { createImageListReader, createRevisionReader } from '../../service/registry/origins.ts';
import { createLogger } from '../../service/telemetry/logger.ts';
import { createMetrics } from '../../service/telemetry/metrics.ts';
import { createImageVerifier } from '../../service/verify/image-verifier.ts';
import { readTrustRoot } from '../../service/verify/trust.ts';
import { createAllEvidence } from '../../service/vulnerabilities/evidence-sources.ts';
import { openRegistry } from '../../service/command-line/user-registry.ts';
import { type Cluster, createCluster, type RunMeans } from './cluster.ts';
import { noLog } from './no-log.ts';
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
      registry: {
        ...registry,
        readRevision: createRevisionReader(registry),
        readImageList: createImageListReader(registry),
        ...createRegistryMemory({ now: Date.now, elapsed: () => performance.now() }),
        sourceOf: createSourceOf(cluster),
        hasRead: async () => false,
      },
      signatures: { verify },
      vulnerabilities: { read: createAllEvidence({ registry, trustRoot, readSecret, client, elapsed: () => performance.now() }) },
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

/** Creates the function that finds on whose behalf a registry is asked for a policy. */
function createSourceOf({ cluster, pullSecretsOf }: Cluster): Registry['sourceOf'] {
  const workloadsOf = (target: PolicyTarget) => resolveTarget(target, cluster);
  return (policy, spec) => ({ ...spec.repository, ...defined({ access: pullAccess(policy, spec, { workloadsOf, pullSecretsOf }) }) });
}

function openTrustRoot({ verification: { trustRootFile: file } }: Config): ReturnType<typeof readTrustRoot> | undefined {
  if (file === undefined) return undefined;
  try {
    return readTrustRoot(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file}: ${describeError(error)}`, { cause: error });
  }
}
