/** The one policy of a backtest, whose status is only in memory. */
import { createKeyedMutex } from '../../core/async/serialize.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import type { Policies } from '../../service/reconcile/ports.ts';
import { createRecentPushes } from '../../service/reconcile/recent-pushes.ts';

export interface PastPolicy {
  /** The policy with its newest status. */
  policy(): ImagePolicy;
  readonly policies: Policies;
}

/** `first`: the policy as it is at the beginning; `now` is the clock, in ms since 1970. */
export function createPastPolicy(first: ImagePolicy, now: () => number): PastPolicy {
  let policy = first;
  return {
    policy: () => policy,
    policies: {
      all: () => [policy],
      find: (namespace, name) => (namespace === policy.namespace && name === policy.name ? policy : undefined),
      match: () => [policy],
      matchCompanions: () => [policy],
      matchUnselected: () => [],
      isWatching: () => true,
      isComplete: async () => true,
      recentPushes: createRecentPushes(now),
      read: async () => policy,
      confirm: async () => performance.now(),
      secretVersions: () => '',
      async writeStatus(_policy, update) {
        const status = update(policy.status);
        if (status !== undefined) policy = { ...policy, status };
      },
      mutex: createKeyedMutex(),
    },
  };
}
