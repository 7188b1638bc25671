/** The cache of BaseImagePolicies. */
import { type BaseReadContext, readBasePolicy } from './resource/read-base-policy.ts';
import { baseResource } from '../service/resources/group.ts';
import { type BaseImagePolicy, isUsableBase } from '../core/model/base-policy.ts';
import { sameRepository, type Repository } from '../core/model/image-reference.ts';
import type { KindRef } from '../core/model/workload.ts';
import type { KubeClient } from '../service/kube/client.ts';
import type { ObjectName, ObjectStore } from '../service/kube/object-store.ts';
import { objectPath, readObject } from '../service/kube/objects.ts';
import { createConfirmedReader, type ReadConfirmed } from '../service/cluster/confirmed-reader.ts';
import { createOptionalCache, type OptionalCache } from '../service/cluster/optional-cache.ts';
import type { Logger } from '../service/telemetry/logger.ts';

export interface BasePolicyCache extends Omit<OptionalCache<BaseImagePolicy>, 'objects' | 'watchOf'> {
  readonly policies: ObjectStore<BaseImagePolicy>;
  /** The policies that watch a repository as their base. */
  readonly match: (repository: Repository) => BaseImagePolicy[];
  /** The kinds of workloads that the policies select. */
  readonly kinds: () => KindRef[];
  /** Reads an object of the API server. */
  readonly parse: (raw: unknown) => BaseImagePolicy;
  /** Reads a policy from the API server. */
  readonly read: (name: ObjectName, signal?: AbortSignal) => Promise<BaseImagePolicy | undefined>;
  /** Reads a policy as it was at most 3 s ago. */
  readonly readConfirmed: ReadConfirmed<BaseImagePolicy>;
}

export interface BasePolicyCacheOptions {
  readonly client: KubeClient;
  readonly readContext: BaseReadContext;
  readonly logger: Logger;
}

/** An empty cache. It connects when `start` is called. */
export function createBasePolicyCache({ client, readContext, logger }: BasePolicyCacheOptions): BasePolicyCache {
  const message = 'base policies cannot be watched';
  const parse = (raw: unknown) => readBasePolicy(raw, readContext);
  const { objects: policies, watchOf, ...cache } = createOptionalCache({ client, logger, resource: baseResource, read: parse, message });
  const read = async ({ namespace, name }: ObjectName, signal?: AbortSignal) => {
    const raw = await readObject<unknown>(client, objectPath(baseResource, namespace, name), signal);
    return raw === undefined ? undefined : parse(raw);
  };
  const usable = () => [...policies.values()].flatMap((policy) => (isUsableBase(policy.spec) ? [{ policy, spec: policy.spec }] : []));
  return {
    ...cache,
    policies,
    // A scan is enough, because clusters have few BaseImagePolicies.
    match: (repository) => usable().flatMap(({ policy, spec }) => (sameRepository(spec.base.repository, repository) ? [policy] : [])),
    kinds: () => [...new Set(usable().flatMap(({ spec }) => spec.workloads.flatMap(({ kinds }) => kinds)))].map((kind) => ({ kind })),
    parse,
    read,
    readConfirmed: createConfirmedReader({ objects: policies, watchOf, read }),
  };
}
