/**
 * Checks before a patch that a policy is still current. The connection of a watch can die silently, and then the cache does not show that a policy was suspended,
 * deleted or changed. If the watch has received nothing for 3 s, the policy's version is read from the API server; otherwise the check costs no request.
 */
import { abortable } from '../async/deadline.ts';
import { createTtlCache } from '../async/bounded-map.ts';
import { policyKey, type ImagePolicy } from '../model/image-policy.ts';
import { isNewer } from '../model/workload.ts';
import type { ObjectStore } from '../kube/object-store.ts';
import type { Reflector } from '../kube/reflector.ts';
import type { ReadVersion } from './read-versions.ts';

/** How long a policy counts as current after an event of its watch, or after it was read. */
export const confirmedForMs = 3_000;
const maxReads = 10_000;

/** The cache of policies, their watches, and the API server. */
export interface PolicySources {
  readonly policies: ObjectStore<ImagePolicy>;
  /** The watch that reports the policies of a namespace. */
  readonly watchOf: (namespace: string) => Pick<Reflector, 'state' | 'reconnect'> | undefined;
  /** Reads the policy from the API server; undefined if it does not exist. */
  readonly readPolicy: (namespace: string, name: string) => Promise<ImagePolicy | undefined>;
  /** Reads only its resourceVersion. */
  readonly readVersion: ReadVersion;
  /** A monotonic clock, in milliseconds. */
  readonly monotonicNow?: () => number;
}

/**
 * Creates the check, which returns false if the policy was deleted, replaced or changed. A newer policy that it reads goes into the cache, and the watch that
 * missed it is reopened.
 */
export function createPolicyCheck(sources: PolicySources): (policy: ImagePolicy, signal: AbortSignal) => Promise<boolean> {
  const { policies, watchOf, readPolicy, readVersion, monotonicNow = () => performance.now() } = sources;
  const reads = createTtlCache<void>({ ttlMs: confirmedForMs, limit: maxReads, now: monotonicNow });

  const readAgain = async ({ namespace, name }: ImagePolicy): Promise<void> => {
    const before = policies.get(namespace, name);
    const version = await readVersion(namespace, name);
    const cached = policies.get(namespace, name);
    // The watch has reported the deletion meanwhile, which must not be reverted.
    if (before === undefined || cached === undefined) return;
    if (version !== undefined && !isNewer(version, cached.resourceVersion)) return;
    const found = version === undefined ? undefined : await readPolicy(namespace, name);
    // Our own write may have made a newer version of it meanwhile; what is missing now does not come back with the same uid.
    const newest = policies.get(namespace, name);
    if (found === undefined && newest?.uid === before.uid) policies.remove(newest);
    else if (found !== undefined && newest !== undefined) policies.put(found);
    watchOf(namespace)?.reconnect();
  };
  /** One read serves all patches of a policy that has hundreds of targets. */
  const confirm = (policy: ImagePolicy): Promise<void> => reads.get(policyKey(policy), () => readAgain(policy));

  return async (policy, signal) => {
    const { namespace, name, uid, generation } = policy;
    const isWatchAlive = (watchOf(namespace)?.state().quietMs ?? confirmedForMs) < confirmedForMs;
    const isCached = policies.get(namespace, name) !== undefined;
    if (isCached && !isWatchAlive) await abortable(confirm(policy), signal);
    // Not in the cache: either it was deleted, or our watch is behind the replica that made the job.
    const newest = isCached ? policies.get(namespace, name) : await abortable(readPolicy(namespace, name), signal);
    return newest?.uid === uid && newest.generation <= generation;
  };
}
