import type { ImagePolicy, PolicyName, PolicySpec, PolicyTarget } from '../../core/model/image-policy.ts';
import type { Repository } from '../../core/model/image-reference.ts';
import {
  companionRepositories,
  createFollowerIndex,
  createStalledIndex,
  createPolicyIndex,
  createTargetIndex,
  type TargetIndex,
} from './policy-indexes.ts';
import { kindsOf } from '../../core/model/resolve-target.ts';
import { createKindQuota } from './kind-quota.ts';
import type { KindRef, Workload } from '../../core/model/workload.ts';
import { createKindWatches } from './kind-watches.ts';
import type { KindWatchOptions } from './kind-watch.ts';
import { createEffectivePolicies, type NamespaceContext, type WhyHeld } from './effective-policies.ts';
import { createObjectStore, type ObjectChange } from '../kube/object-store.ts';
import type { TargetState } from '../../core/plan/plan-update.ts';
import { abortable, within } from '../../core/async/deadline.ts';

export type ClusterCache = ReturnType<typeof createClusterCache>;

/** The callbacks for a changed workload, and for a kind whose workloads have been listed. */
export interface CacheListeners {
  readonly onWorkload: (change: ObjectChange<Workload>) => void;
  readonly onKindReady: () => void;
}

export interface CacheOptions extends Omit<KindWatchOptions, 'onChange' | 'onReady'> {
  /** The kinds of workloads that are watched even if no policy names them. */
  readonly otherKinds?: () => readonly KindRef[];
  /** Why a policy that has a parent must not do anything now. */
  readonly whyHeld?: WhyHeld;
}

/**
 * Creates the cache of policies and workloads, with the indexes of policies by repository, by target, and by the Secrets that may fix them. Policies decide
 * which kinds are watched. `policies` are the policies of selected namespaces, with their defaults.
 */
export function createClusterCache({ otherKinds = () => [], whyHeld, ...options }: CacheOptions, namespaces: NamespaceContext) {
  const written = createObjectStore<ImagePolicy>();
  const { policies, isSelected, effective, refresh, refreshChildren } = createEffectivePolicies(written, namespaces, whyHeld);
  const listeners = new Set<CacheListeners>();
  const workloads = createKindWatches({
    ...options,
    onChange(change) {
      for (const { onWorkload } of listeners) onWorkload(change);
    },
    onReady() {
      for (const { onKindReady } of listeners) onKindReady();
    },
  });
  const byRepository = createPolicyIndex();
  const byCompanion = createPolicyIndex(companionRepositories);
  /** The policies by repository, including namespaces that are not selected; empty if all namespaces are selected. */
  const allByRepository = createPolicyIndex();
  const byTarget = createTargetIndex();
  const stalled = createStalledIndex();
  const followers = createFollowerIndex();
  const quota = createKindQuota();
  if (namespaces.rules.selector !== undefined)
    written.subscribe(({ type, object }) => (type === 'deleted' ? allByRepository.remove(object) : allByRepository.put(object)));
  policies.subscribe(({ type, object, previous }) => {
    for (const index of [byRepository, byCompanion, byTarget, stalled, followers]) {
      if (type === 'deleted') index.remove(object);
      else index.put(object);
    }
    if (type === 'deleted') return quota.remove(object);
    // A changed status needs no new index entry. It changes far more often than the spec.
    if (previous?.spec === object.spec) return;
    quota.put(object);
    const kinds = quota.allowedOf(object);
    workloads.startWatches(kinds);
    workloads.retry(kinds);
  });
  const findPolicy = (namespace: string, name: string) => policies.get(namespace, name);
  return {
    /** The policies of all namespaces as the API server stores them, from watches and our own writes. */
    written,
    policies,
    isSelected,
    effective,
    refresh,
    refreshChildren,
    workloads,
    findPolicy,
    findWorkload: workloads.findWorkload,
    listWorkloads: workloads.listWorkloads,
    targetState(target: PolicyTarget, policy: Pick<ImagePolicy, 'namespace'>): TargetState {
      const stateOf = (kind: KindRef): TargetState => {
        const problem = quota.problemOf(policy.namespace, kind);
        return problem === undefined ? workloads.state(kind, target.namespace) : { problem };
      };
      // Each policy is asked for once a minute, and only fields name a second kind.
      if (target.fields === undefined) return stateOf(target);
      const states = kindsOf(target).map(stateOf);
      const [own = 'starting'] = states;
      return states.find((state) => state === 'starting' || 'problem' in state) ?? own;
    },
    matchPolicies: byRepository.match,
    matchCompanions: byCompanion.match,
    /** The policies of a repository whose namespaces are not selected. */
    matchUnselected: (repository: Repository) => allByRepository.match(repository).filter(({ namespace }) => !isSelected(namespace)),
    /** The Stalled policies that a changed Secret may fix, in one namespace or (undefined) in all. */
    stalledForSecretsIn: (namespace: string | undefined) =>
      stalled.stalledIn(namespace).flatMap(({ namespace, name }) => findPolicy(namespace, name) ?? []),
    /** The policies that name this one in select.proven or update.after. */
    followersOf: (policy: PolicyName) => followers.followersOf(policy).flatMap(({ namespace, name }) => findPolicy(namespace, name) ?? []),
    policiesOf: (...asked: Parameters<TargetIndex['policiesOf']>) =>
      byTarget.policiesOf(...asked).flatMap(({ namespace, name }) => findPolicy(namespace, name) ?? []),
    listen(added: CacheListeners) {
      listeners.add(added);
    },
    /** Stops the watches of kinds that no policy names any more, and starts the watches of kinds that are now within the quota. */
    updateWatches() {
      const kinds = [...quota.allowed(), ...otherKinds()];
      workloads.keepOnly(kinds);
      workloads.startWatches(kinds);
    },
    /** Resolves when the workloads of all kinds are listed, or their list has failed once; never rejects. */
    synced: () => workloads.synced([...quota.allowed(), ...otherKinds()]),
  };
}

const maxWaitMs = 5_000;

/** Resolves when the workloads of all targets are listed, or their list has failed. A new kind takes milliseconds, so its reconcile need not be retried. */
export async function awaitTargets(
  policy: Pick<ImagePolicy, 'namespace'>,
  { targets }: PolicySpec,
  cache: ClusterCache,
  signal: AbortSignal,
): Promise<void> {
  const starting = targets.filter((target) => cache.targetState(target, policy) === 'starting');
  if (starting.length === 0) return;
  const kinds = starting.flatMap(kindsOf);
  cache.workloads.startWatches(kinds);
  const synced = abortable(cache.workloads.synced(kinds), signal).catch(() => undefined);
  await within(maxWaitMs, synced);
}
