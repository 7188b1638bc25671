/** The cache of BaseImagePolicies. Nothing waits for their CustomResourceDefinition, which may not be installed: the watch begins when it is. */
import type { FieldContext } from '../core/model/field-rules.ts';
import { readBasePolicy } from './resource/read-base-policy.ts';
import { basePlural } from '../service/resources/group.ts';
import { apiVersion } from '../service/resources/v1.ts';
import { type BaseImagePolicy, isUsableBase } from '../core/model/base-policy.ts';
import { sameRepository, type Repository } from '../core/model/image-reference.ts';
import type { KindRef } from '../core/model/workload.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { createObjectStore, type ObjectName, type ObjectStore } from '../service/kube/object-store.ts';
import { listPath, objectPath, readObject } from '../service/kube/objects.ts';
import { createConfirmedReader, type ReadConfirmed } from '../service/cluster/confirmed-reader.ts';
import { startOptionalReflector, type OptionalReflector } from '../service/cluster/optional-reflector.ts';
import type { Logger } from '../service/telemetry/logger.ts';

/** The resource of BaseImagePolicies. */
export const basePolicyResource = { apiVersion, resource: basePlural };

export interface BasePolicyCache {
  readonly policies: ObjectStore<BaseImagePolicy>;
  /** The policies that watch a repository as their base. */
  readonly match: (repository: Repository) => BaseImagePolicy[];
  /** The kinds of workloads that the policies select. */
  readonly kinds: () => KindRef[];
  /** Reads a policy from the API server. */
  readonly read: (name: ObjectName, signal?: AbortSignal) => Promise<BaseImagePolicy | undefined>;
  /** Reads a policy as it was at most 3 s ago. */
  readonly readConfirmed: ReadConfirmed<BaseImagePolicy>;
  /** Resolves when the policies are listed, or when it is known that there are none. */
  readonly settled: () => Promise<unknown>;
  /** Whether `settled` has resolved. */
  readonly areKnown: () => boolean;
  /** Starts the watches of these namespaces; `undefined` stands for all namespaces. */
  start(namespaces: readonly (string | undefined)[]): void;
  stop(): Promise<void>;
}

export interface BasePolicyCacheOptions {
  readonly client: KubeClient;
  readonly readContext: FieldContext;
  readonly logger: Logger;
}

/** An empty cache. It connects when `start` is called. */
export function createBasePolicyCache({ client, readContext, logger }: BasePolicyCacheOptions): BasePolicyCache {
  const policies = createObjectStore<BaseImagePolicy>();
  let watches: { readonly namespace: string | undefined; readonly reflector: OptionalReflector }[] = [];
  let areKnown = false;
  const settled = () => Promise.all(watches.map(({ reflector }) => reflector.settled));
  const watchOf = (namespace: string) => watches.find((watch) => watch.namespace === undefined || watch.namespace === namespace)?.reflector;
  const read = async ({ namespace, name }: ObjectName, signal?: AbortSignal) => {
    const raw = await readObject<unknown>(client, objectPath(basePolicyResource, namespace, name), signal);
    return raw === undefined ? undefined : readBasePolicy(raw, readContext);
  };
  const usable = () => [...policies.values()].flatMap((policy) => (isUsableBase(policy.spec) ? [{ policy, spec: policy.spec }] : []));
  return {
    policies,
    // A scan is enough, because clusters have few BaseImagePolicies.
    match: (repository) => usable().flatMap(({ policy, spec }) => (sameRepository(spec.base.repository, repository) ? [policy] : [])),
    kinds: () => [...new Set(usable().flatMap(({ spec }) => spec.workloads.flatMap(({ kinds }) => kinds)))].map((kind) => ({ kind })),
    read,
    readConfirmed: createConfirmedReader({ objects: policies, watchOf, read }),
    settled,
    areKnown: () => areKnown,
    start(namespaces) {
      watches = namespaces.map((namespace) => ({
        namespace,
        reflector: startOptionalReflector(
          { client, path: listPath(basePolicyResource, namespace), project: (raw) => readBasePolicy(raw, readContext), store: policies },
          { logger, message: 'base policies cannot be watched' },
        ),
      }));
      void settled().then(() => (areKnown = true));
    },
    async stop() {
      await Promise.all(watches.map(({ reflector }) => reflector.stop()));
    },
  };
}
