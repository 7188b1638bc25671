/**
 * Confirms before a patch that a policy is still as it was when the plan was made. The connection of a watch can die silently, and then the cache does not show that
 * a policy was suspended, deleted or changed. If the watch has received nothing for 3 s, the policy's version is read from the API server; otherwise the check costs
 * no request.
 */
import { abortable } from '../../core/async/deadline.ts';
import { createTtlCache } from '../../core/async/bounded-map.ts';
import { confirmedForMs } from '../../core/model/confirmation.ts';
import { policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { decideAlike } from '../../core/model/policy-basis.ts';
import { isNewer } from '../../core/model/workload.ts';
import type { ObjectStore } from '../kube/object-store.ts';
import type { Reflector } from '../kube/reflector.ts';
import type { ReadVersion } from './read-versions.ts';

const maxReads = 10_000;

/** The cache of policies, their watches, and the API server. */
export interface PolicySources {
  readonly policies: ObjectStore<ImagePolicy>;
  /** The watch that reports the policies of a namespace. */
  readonly watchOf: (namespace: string) => Pick<Reflector, 'state' | 'reconnect'> | undefined;
  /** Reads the policy from the API server; undefined if it does not exist. */
  readonly readPolicy: (namespace: string, name: string) => Promise<ImagePolicy | undefined>;
  /** Reads only the policy's resourceVersion. */
  readonly readVersion: ReadVersion;
  /** A monotonic clock, in milliseconds. */
  readonly monotonicNow?: () => number;
}

/**
 * Creates the check. It returns when the policy was as given, by the monotonic clock: when its watch last reported something, or when it was read. Undefined if
 * the policy was deleted, replaced or changed in what decides. A newer policy that it reads goes into the cache, and the watch that missed it is reopened.
 */
export function createPolicyCheck(sources: PolicySources): (policy: ImagePolicy, signal: AbortSignal) => Promise<number | undefined> {
  const { policies, watchOf, readPolicy, readVersion, monotonicNow = () => performance.now() } = sources;
  const reads = createTtlCache<number>({ ttlMs: confirmedForMs, limit: maxReads, elapsed: monotonicNow });

  const readAgain = async ({ namespace, name }: ImagePolicy): Promise<void> => {
    const before = policies.get(namespace, name);
    const version = await readVersion(namespace, name);
    const cached = policies.get(namespace, name);
    // The watch has reported the deletion during the read, which must not be reverted.
    if (before === undefined || cached === undefined) return;
    if (version !== undefined && !isNewer(version, cached.resourceVersion)) return;
    const found = version === undefined ? undefined : await readPolicy(namespace, name);
    // Our own write may have made a newer version during the read. A policy that is missing now does not come back with the same uid.
    const newest = policies.get(namespace, name);
    if (found === undefined && newest?.uid === before.uid) policies.remove(newest);
    else if (found !== undefined && newest !== undefined) policies.put(found);
    watchOf(namespace)?.reconnect();
  };
  /** Reads a policy once for all patches that need it, because a policy may have hundreds of targets. */
  const readOnce = (policy: ImagePolicy): Promise<number> =>
    reads.get(policyKey(policy), async () => {
      const startedAt = monotonicNow();
      await readAgain(policy);
      return startedAt;
    });

  return async (policy, signal) => {
    const { namespace, name } = policy;
    const calledAt = monotonicNow();
    const quietMs = watchOf(namespace)?.state().quietMs ?? confirmedForMs;
    if (policies.get(namespace, name) === undefined) {
      // With another version, the policy was deleted, or our watch is behind the replica that made the job.
      return isAsPlanned(policy, await abortable(readPolicy(namespace, name), signal)) ? calledAt : undefined;
    }
    const confirmedAt = quietMs < confirmedForMs ? calledAt - quietMs : await abortable(readOnce(policy), signal);
    return isAsPlanned(policy, policies.get(namespace, name)) ? confirmedAt : undefined;
  };
}

/** Whether nothing that decides differs between the planned policy and the newest one known here. The planned policy may be the newer one. */
function isAsPlanned(planned: ImagePolicy, newest: ImagePolicy | undefined): boolean {
  if (newest?.uid !== planned.uid) return false;
  if (!isNewer(newest.resourceVersion, planned.resourceVersion)) return true;
  return newest.generation <= planned.generation && decideAlike(planned, newest);
}
