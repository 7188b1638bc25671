/**
 * Whether a policy may still act. A connection can die without a word, and then its watch says nothing of a policy that was suspended, deleted or narrowed: one that
 * has been quiet is not believed, and the policy is read. While the watch is heard from, that costs no request.
 */
import { abortable } from '../async/deadline.ts';
import { createTtlCache } from '../async/bounded-map.ts';
import { policyKey, type ImagePolicy } from '../model/image-policy.ts';
import { isNewer } from '../model/workload.ts';
import type { ObjectStore } from '../kube/object-store.ts';
import type { Reflector } from '../kube/reflector.ts';

/** For how long a policy is believed to be what was heard of it. */
export const confirmedForMs = 3_000;
const maxReads = 10_000;

/** Where policies are known from. */
export interface PolicySources {
  readonly policies: ObjectStore<ImagePolicy>;
  /** The watch that reports the policies of a namespace. */
  readonly watchOf: (namespace: string) => Pick<Reflector, 'state' | 'reconnect'> | undefined;
  /** The policy as the API server knows it. */
  readonly readPolicy: (namespace: string, name: string) => Promise<ImagePolicy | undefined>;
  /** Milliseconds on a clock that is never set. */
  readonly monotonicNow?: () => number;
}

/** The check; what it reads is in the cache afterwards, and a watch that has not reported it is opened anew. */
export function createPolicyCheck(sources: PolicySources): (policy: ImagePolicy, signal: AbortSignal) => Promise<boolean> {
  const { policies, watchOf, readPolicy, monotonicNow = () => performance.now() } = sources;
  const reads = createTtlCache<void>({ ttlMs: confirmedForMs, limit: maxReads, now: monotonicNow });

  const refresh = async ({ namespace, name }: ImagePolicy): Promise<void> => {
    const before = policies.get(namespace, name);
    const found = await readPolicy(namespace, name);
    const cached = policies.get(namespace, name);
    // The watch has reported the deletion meanwhile: it must not be undone.
    if (before === undefined || cached === undefined) return;
    if (found === undefined) policies.remove({ namespace, name, resourceVersion: before.resourceVersion });
    else if (!isNewer(found.resourceVersion, cached.resourceVersion)) return;
    else policies.put(found);
    watchOf(namespace)?.reconnect();
  };
  /** Hundreds of targets are patched in one moment: the policy is read once for them. */
  const confirm = (policy: ImagePolicy): Promise<void> => reads.get(policyKey(policy), () => refresh(policy));

  return async (policy, signal) => {
    const { namespace, name, uid, generation } = policy;
    const isHeard = (watchOf(namespace)?.state().quietMs ?? confirmedForMs) < confirmedForMs;
    const isCached = policies.get(namespace, name) !== undefined;
    if (isCached && !isHeard) await abortable(confirm(policy), signal);
    // Not in the cache: either it was deleted, or our watch is behind the replica that made the job.
    const newest = isCached ? policies.get(namespace, name) : await abortable(readPolicy(namespace, name), signal);
    return newest?.uid === uid && newest.generation <= generation;
  };
}
