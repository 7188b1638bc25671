/** Writes to the status what changed targets run, without asking the registry, if no other action is needed now. */
import { asSeenBy } from '../../core/plan/consent.ts';
import { isUsable, type ImagePolicy, type PolicySpec } from '../../core/model/image-policy.ts';
import { fieldManager, lastUpdateOf } from '../../core/model/last-update.ts';
import { findContainer, formatWorkload } from '../../core/model/workload.ts';
import type { Postponement } from '../../core/plan/outcome.ts';
import type { PolicyJob } from '../queue/jobs.ts';
import { nextStatus, withSeenTargets } from '../../core/status/next-status.ts';
import { withFreshState, withTargetsRead } from './enqueue/fresh-state.ts';
import { planWith } from './plan.ts';
import type { Ports, SeenCluster } from './ports.ts';
import { selectKnown } from './selection.ts';

/**
 * Writes what the targets run into the status of a policy that has selected nothing yet, or whose image another policy has replaced. If two policies undid each
 * other's changes without a pause, containers would be restarted until the loop breaker stops both. False if the policy is to be reconciled.
 */
export async function showTargetsAlone(job: PolicyJob, ports: Ports, signal: AbortSignal): Promise<boolean> {
  const fresh = await withFreshState(job, ports, signal);
  const policy = fresh.policies.find(job.policy.namespace, job.policy.name);
  if (policy?.uid !== job.policy.uid) return true;
  const { spec } = policy;
  if (!isUsable(spec) || spec.suspended) return false;
  const isNew = policy.status.latest === undefined;
  const seen = asSeenBy(policy, fresh.cluster);
  if (!isNew && replacedByOthers(policy, spec, seen) === undefined) return false;
  // A watch that is silent shows the image before ours as one that has replaced ours.
  const cluster = isNew ? seen : asSeenBy(policy, await withTargetsRead(policy, fresh, signal));
  const replaced = replacedByOthers(policy, spec, cluster);
  if (!isNew && replaced === undefined) return false;
  const now = new Date(cluster.now());
  const cause = { source: job.source, receivedAt: job.receivedAt, isHinted: true };
  const update = (current: ImagePolicy) =>
    replaced === undefined ? withSeenTargets(current, cluster, now) : nextStatus(current, replaced, { cause, now }, cluster);
  await fresh.policies.writeStatus(policy, (status) => update({ ...policy, status }), signal);
  return true;
}

/** The state of a policy whose image was replaced by another policy; undefined where anything else is to be changed, or nothing. */
function replacedByOthers(policy: ImagePolicy, spec: PolicySpec, cluster: SeenCluster): Postponement | undefined {
  if (policy.status.latest === undefined) return undefined;
  const selection = selectKnown(policy, spec);
  if (selection === undefined || 'kind' in selection) return undefined;
  const changes = planWith(policy, selection, cluster).targets.flatMap(({ workload, ...target }) =>
    target.changes.map(({ container, from }) => {
      const update = workload && lastUpdateOf(workload, container);
      const found = workload && findContainer(workload, container);
      const isOther = update !== undefined && update.policy !== policy.uid && (found === undefined || found.imageOwner === fieldManager);
      return isOther && workload !== undefined ? `${formatWorkload(workload)} to ${from}` : undefined;
    }),
  );
  if (changes.length === 0 || changes.includes(undefined)) return undefined;
  const message = `another ImagePolicy has changed ${changes.join(' and ')}; it is changed again at the next check: see who else does`;
  return { kind: 'postponed', reason: 'Retrying', message };
}
