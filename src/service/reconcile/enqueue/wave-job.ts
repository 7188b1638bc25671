import { defined } from '../../../core/model/defined.ts';
import { isUsable, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { hashId } from '../../../core/model/push-event.ts';
import { workloadKey } from '../../../core/model/workload.ts';
import { waveReasons } from '../../../core/plan/guards/wave.ts';
import type { WaitReason } from '../../../core/plan/wait-reasons.ts';
import { guardWait, isPending } from '../../../core/plan/pending-candidate.ts';
import { policyJob, type PolicyJob } from '../../queue/jobs.ts';
import { planWith } from '../plan.ts';
import type { SeenCluster } from '../ports.ts';

const reasons: ReadonlySet<string> = new Set<WaitReason>([...waveReasons, 'CheckPending']);
/** Reasons whose end may change with each reconcile: by the deadline of a rollout, or by the begin of a check. */
const movingReasons: ReadonlySet<string> = new Set<WaitReason>(['WavePending', 'CheckPending']);

const causePrefix = 'wave:';

/** Whether a job was made by `waveJob`. */
export function isWaveJob({ cause }: Pick<PolicyJob, 'cause'>): boolean {
  return cause.startsWith(causePrefix);
}

/**
 * The job for a policy that waits for its next wave (`rollout.waves`) or for checks (`rollout.checks`): when the wave may begin, when the verdicts are known, or if it waits for something else than its status says. Like
 * the predicate for policies, it is a pure function of the caches that is called on every change of a policy or workload, so a missed event does no harm.
 */
export function waveJob(policy: ImagePolicy, cluster: SeenCluster): PolicyJob | undefined {
  const { generation, spec, status } = policy;
  const { waiting, vulnerabilities } = status;
  if (!isUsable(spec) || spec.suspended || !isPending(waiting) || !reasons.has(waiting.reason)) return undefined;
  if (spec.targets.some((target) => cluster.targetState(target, policy) === 'starting')) return undefined;
  const { tag, digest } = waiting;
  const candidate = { tag, ...defined({ digest }) };
  const now = new Date(cluster.now());
  const plan = planWith(policy, { spec, candidate, ...defined({ assessments: vulnerabilities }) }, cluster);
  const started = plan.targets.filter(({ changes }) => changes.length > 0);
  const next = guardWait(plan, waiting, now);
  const isSame = next?.reason === waiting.reason && (movingReasons.has(next.reason) || next.until === waiting.until);
  if (started.length === 0 && isSame) return undefined;
  const workloads = started.map(({ target, workload }) => `${workloadKey(target)}:${workload?.uid ?? ''}:${workload?.generation ?? 0}`);
  const state = started.length > 0 ? hashId(workloads) : `${next?.reason ?? 'none'}:${next?.until ?? ''}`;
  return policyJob(policy, {
    generation,
    source: 'TargetChange',
    cause: `${causePrefix}${generation}:${tag}@${digest ?? ''}:${waiting.until}:${state}`,
    receivedAt: now.toISOString(),
    hint: candidate,
  });
}
