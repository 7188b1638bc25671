import { isUsable, type ImagePolicy, type PolicySpec, type RolloutSettings } from '../../../core/model/image-policy.ts';
import { snapshotOf } from '../../../core/model/target-snapshot.ts';
import type { Seen } from '../../../core/plan/consent.ts';
import { nextCheck } from '../../../core/rollout/next-check.ts';
import { policyJob, type PolicyJob } from '../../queue/jobs.ts';
import type { ClusterView } from '../ports.ts';

/** A spec whose rollouts are watched. */
export type WatchedSpec = PolicySpec & { readonly rollout: RolloutSettings };

/** The spec of a policy whose rollouts are watched; undefined for any other. */
export function watchedSpec({ spec }: ImagePolicy): WatchedSpec | undefined {
  return isUsable(spec) && !spec.suspended && hasRollout(spec) ? spec : undefined;
}

function hasRollout(spec: PolicySpec): spec is WatchedSpec {
  return spec.rollout !== undefined;
}

/** The next check of the policy's rollouts, as an immediate or a delayed job; undefined when there is nothing to find out. */
export function rolloutJob(
  policy: ImagePolicy,
  cluster: Pick<ClusterView, 'findWorkload' | 'listWorkloads' | 'aliases' | 'isFollowed'> & Seen,
  now: Date,
): PolicyJob | undefined {
  const spec = watchedSpec(policy);
  const due = spec && nextCheck(policy, spec.rollout, snapshotOf(policy, cluster, now), cluster.isFollowed?.(policy));
  if (due === undefined) return undefined;
  return policyJob(policy, {
    source: 'TargetChange',
    receivedAt: now.toISOString(),
    task: 'rollout',
    cause: `rollout:${due.cause}`,
    ...(due.at !== undefined && { notBefore: due.at.toISOString() }),
  });
}
