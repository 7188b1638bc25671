import { planRollback, rollbacksOf, withRecordedTime, type Rollback } from '../../../core/rollout/automatic-rollback.ts';
import { progressOf } from '../../../core/rollout/count-rollouts.ts';
import type { ChangedWorkload, RolloutDecision } from '../../../core/rollout/decide-rollouts.ts';
import { recordOutcomes, type Refusal, type RollbackOutcome } from '../../../core/rollout/record-results.ts';
import { confirmAll } from '../../../core/model/confirmation.ts';
import { PermanentError } from '../../../core/model/errors.ts';
import { guardPlan, rollbackGuards } from '../../../core/plan/guard-plan.ts';
import { policyKey, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { parseImageReference } from '../../../core/model/image-reference.ts';
import type { UpdatePlan } from '../../../core/plan/plan-update.ts';
import type { PolicyStatus } from '../../../core/model/policy-status.ts';
import { snapshotOf } from '../../../core/model/target-snapshot.ts';
import { isNewer, workloadKey, type Workload } from '../../../core/model/workload.ts';
import { withRollouts } from '../../../core/status/with-rollouts.ts';
import { defaultParallel } from '../apply.ts';
import { findSame } from '../attempt.ts';
import { confirmSource, gatherConsents, type ConfirmConsent } from '../consents.ts';
import { inParallel } from '../../../core/async/in-parallel.ts';
import { reportRollbacks } from './report-rollouts.ts';
import { verifyEarlier } from '../verify.ts';
import type { RolloutCheck, RolloutPorts } from './watch-rollouts.ts';

const maxTries = 5;

/**
 * Rolls back to the images before failed changes, with the same guarded patch as every change, several workloads in parallel. The status already shows the
 * failure; after a crash between patch and status, the rollback is found by the running images. A change that must not be rolled back (`refused`) is only
 * reported.
 */
export async function rollBack({ failed, refused }: RolloutDecision, check: RolloutCheck, ports: RolloutPorts): Promise<void> {
  const { maxParallel = defaultParallel } = check.spec;
  const results = await inParallel(failed, maxParallel, (one) => rollBackWorkload(one, check, ports));
  const outcomes = results.flatMap((result) => (result.status === 'fulfilled' && result.value !== undefined ? [result.value] : []));
  await record(outcomes, { refused }, check, ports);
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

/** Rolls back one workload; undefined if nothing is left to roll back. */
async function rollBackWorkload(
  { workload: found, entries }: ChangedWorkload,
  check: RolloutCheck,
  ports: RolloutPorts,
): Promise<RollbackOutcome | undefined> {
  let workload: Workload | undefined = found;
  for (let tries = 0; tries < maxTries && workload !== undefined; tries++) {
    const policy: ImagePolicy | undefined = newestOf(check.policy, ports);
    // A changed policy is not rolled back here, because its change causes a reconcile of its own.
    if (policy === undefined) return undefined;
    const rollbacks = rollbacksOf(policy, workload, check.cluster, entries);
    const open = rollbacks.filter(({ isDone }) => !isDone);
    if (rollbacks.length === 0) return undefined;
    if (open.length === 0) return { kind: 'back', workload, rollbacks };
    const result = await tryPatch(workload, open, { ...check, policy }, ports);
    if (typeof result === 'object' && 'kind' in result)
      return { kind: 'back', workload, rollbacks: rollbacks.map((one) => withRecordedTime(one, result.workload)) };
    if (result === 'outdated') continue;
    if (result !== 'conflict') return { kind: 'refused', workload, rollbacks: open, refusal: result };
    workload = await ports.workloads.read(found, check.signal);
    check.fresh.set(workloadKey(found), workload);
  }
  if (workload !== undefined) throw new Error(`${workloadKey(found)} changed under ${maxTries} rollbacks in a row`);
  return undefined;
}

/** The policy with its newest status and actions; undefined if it was deleted or its spec was changed. */
function newestOf(policy: ImagePolicy, { policies }: RolloutPorts): ImagePolicy | undefined {
  const now = findSame({ policy }, policies);
  if (now === undefined || now.generation > policy.generation) return undefined;
  return isNewer(now.resourceVersion, policy.resourceVersion) ? now : policy;
}

interface Patched {
  readonly kind: 'patched';
  readonly workload: Workload;
}

async function tryPatch(
  workload: Workload,
  open: readonly Rollback[],
  check: RolloutCheck,
  ports: RolloutPorts,
): Promise<Patched | 'conflict' | 'outdated' | Refusal> {
  const { policy, cluster, signal } = check;
  const plan = planRollback(workload, open, policy, {
    findWorkload: cluster.findWorkload,
    aliases: cluster.aliases,
    at: new Date(cluster.now()),
  });
  // The registry may be slow, so policy and consents are read after it has answered.
  const unverified = await whyNotVerified(open, check, ports);
  if (unverified !== undefined) return { reason: 'RollbackRefused', why: unverified };
  const { why, confirm: confirmConsent } = await whyNotAllowed(plan, check, ports);
  if (why !== undefined) return { reason: 'RollbackRefused', why };
  const changes = plan.targets.flatMap((target) => target.changes);
  const confirm = () =>
    confirmAll([
      () => ports.policies.confirm(policy, signal),
      () => confirmConsent(workload),
      ...changes.flatMap(({ source }) => (source === undefined ? [] : [() => confirmSource(source, check, ports.workloads)])),
    ]);
  const cause = `image-watcher: ImagePolicy ${policyKey(policy)} rolled back to ${plan.candidate.tag}: the rollout of ${open.map(({ entry }) => entry.tag).join(', ')} failed`;
  try {
    const result = await ports.workloads.patchImages(workload, changes, { changeCause: cause, confirm }, signal);
    return result.kind === 'patched' ? result : result.kind;
  } catch (error) {
    if (error instanceof PermanentError) return { reason: 'RollbackFailed', why: error.message };
    throw error;
  }
}

/** Why the owners of the workload or the configuration do not allow the rollback now, or else how to confirm their consent. */
async function whyNotAllowed(
  plan: UpdatePlan,
  check: RolloutCheck,
  ports: RolloutPorts,
): Promise<{ readonly why: string | undefined; readonly confirm: ConfirmConsent }> {
  const { consents, confirm } = await gatherConsents(check, plan, ports.workloads);
  const { policy, spec, cluster } = check;
  const { crossNamespace, repeatsPerHour } = cluster;
  const context = { policy, spec, candidate: plan.candidate, crossNamespace, repeatsPerHour, now: new Date(cluster.now()), consents };
  const [target] = guardPlan(plan, context, rollbackGuards).targets;
  return { why: (target?.problem ?? target?.blocked?.[0])?.message, confirm };
}

/** Why the earlier images lack the signatures that the policy demands now; undefined if they have them. */
async function whyNotVerified(open: readonly Rollback[], check: RolloutCheck, ports: RolloutPorts): Promise<string | undefined> {
  try {
    for (const from of new Set(open.flatMap(({ entry }) => [entry.from, ...(entry.alongside ?? []).map((one) => one.from)]))) {
      await verifyEarlier(check, parseImageReference(from, check.cluster.aliases), ports);
    }
    return undefined;
  } catch (error) {
    if (error instanceof PermanentError) return error.message;
    throw error;
  }
}

/** Records all rollbacks, done and refused, in one write to the status. */
async function record(
  outcomes: readonly RollbackOutcome[],
  { refused }: Pick<RolloutDecision, 'refused'>,
  { policy, cluster, signal }: RolloutCheck,
  ports: RolloutPorts,
): Promise<void> {
  if (outcomes.length === 0 && refused.length === 0) return;
  let before: PolicyStatus = policy.status;
  let isNew = false;
  const now = new Date(cluster.now());
  const update = (status: PolicyStatus) => {
    before = status;
    const recorded = recordOutcomes(status, outcomes, refused, now);
    ({ isNew } = recorded);
    const progress = progressOf({ ...policy, status: recorded.status }, snapshotOf(policy, cluster, now));
    return withRollouts({ ...policy, status }, progress, now);
  };
  await ports.policies.writeStatus(policy, update, signal);
  await reportRollbacks({ ...policy, status: before }, { outcomes, refused, isNew }, { ...ports, cluster });
}
