/** The cache of BaseImagePolicies, with the defaults of their namespace and of the cluster. */
import { effectiveBase, followWritten } from './effective-base.ts';
import { type BaseReadContext, readBasePolicy } from './resource/read-base-policy.ts';
import { baseResource } from '../service/resources/group.ts';
import { type BaseImagePolicy, isUsableBase } from '../core/model/base-policy.ts';
import { sameRepository, type Repository } from '../core/model/image-reference.ts';
import type { KindRef } from '../core/model/workload.ts';
import type { KubeClient } from '../service/kube/client.ts';
import type { ObjectName, StoreView } from '../service/kube/object-store.ts';
import { objectPath, readObject } from '../service/kube/objects.ts';
import { createConfirmedReader, type ReadConfirmed } from './confirmed-reader.ts';
import type { NamespaceContext } from '../service/cluster/effective-policies.ts';
import { createOptionalCache, type OptionalCache } from '../service/cluster/optional-cache.ts';
import type { Logger } from '../service/telemetry/logger.ts';

export interface BasePolicyCache extends Omit<OptionalCache<BaseImagePolicy>, 'objects' | 'watchOf'> {
  readonly policies: StoreView<BaseImagePolicy>;
  /** The policies that watch a repository as their base. */
  readonly match: (repository: Repository) => BaseImagePolicy[];
  /** The kinds of workloads that the policies select. */
  readonly kinds: () => KindRef[];
  /** Stores the response to one of our own writes, and returns its policy. */
  readonly observe: (raw: unknown) => BaseImagePolicy;
  /** Applies changed labels of a namespace to its policies. */
  readonly refresh: (namespace: string) => void;
  /** Reads a policy from the API server. */
  readonly read: (name: ObjectName, signal?: AbortSignal) => Promise<BaseImagePolicy | undefined>;
  /** Reads a policy as it was at most 3 s ago. */
  readonly readConfirmed: ReadConfirmed<BaseImagePolicy>;
}

export interface BasePolicyCacheOptions {
  readonly client: KubeClient;
  readonly readContext: BaseReadContext;
  /** The defaults, and the labels of Namespaces that they may depend on. */
  readonly defaults: NamespaceContext;
  readonly logger: Logger;
}

/** An empty cache. It connects when `start` is called. */
export function createBasePolicyCache({ client, readContext, defaults, logger }: BasePolicyCacheOptions): BasePolicyCache {
  const message = 'base policies cannot be watched';
  const parse = (raw: unknown) => readBasePolicy(raw, readContext);
  const { objects, watchOf, ...cache } = createOptionalCache({ client, logger, resource: baseResource, read: parse, message });
  const effective = (written: BaseImagePolicy) => effectiveBase(written, defaults);
  const { policies, refresh } = followWritten(objects, defaults);
  const readWritten = async ({ namespace, name }: ObjectName, signal?: AbortSignal) => {
    const raw = await readObject<unknown>(client, objectPath(baseResource, namespace, name), signal);
    return raw === undefined ? undefined : parse(raw);
  };
  const readConfirmed = createConfirmedReader({ objects, watchOf, read: readWritten });
  const usable = () => [...policies.values()].flatMap((policy) => (isUsableBase(policy.spec) ? [{ policy, spec: policy.spec }] : []));
  return {
    ...cache,
    policies,
    // A scan is enough, because clusters have few BaseImagePolicies.
    match: (repository) => usable().flatMap(({ policy, spec }) => (sameRepository(spec.base.repository, repository) ? [policy] : [])),
    kinds: () => [...new Set(usable().flatMap(({ spec }) => spec.workloads.flatMap(({ kinds }) => kinds)))].map((kind) => ({ kind })),
    observe(raw) {
      const written = parse(raw);
      objects.observe(written);
      return effective(written);
    },
    refresh,
    async read(name, signal) {
      const written = await readWritten(name, signal);
      return written && effective(written);
    },
    async readConfirmed(name, signal) {
      const { object, confirmedAt } = await readConfirmed(name, signal);
      return { object: object && effective(object), confirmedAt };
    },
  };
}
