import { rollbacksOf, type Rollback } from '../core/current-rollouts.ts';
import { PermanentError } from '../core/errors.ts';
import { guardPlan, rollbackGuards } from '../core/guard-plan.ts';
import { policyKey } from '../core/image-policy.ts';
import type { UpdatePlan } from '../core/plan-update.ts';
import type { HistoryEntry, PolicyStatus } from '../core/policy-status.ts';
import { noteNoRollback, settleRollbacks, withRolloutConditions } from '../core/settle-rollouts.ts';
import { workloadKey, type Workload } from '../core/workload.ts';
import { gatherConsents } from './gather-consents.ts';
import { reportNoRollback, reportRollback } from './report-rollouts.ts';
import type { Watched, WatchPorts } from './watch-rollouts.ts';

const maxTries = 5;

/**
 * Puts the images before failed changes back, with the same guarded patch as every change. The failure is in the status already; what a crash leaves
 * between the patch and the status is found by what runs.
 */
export async function putBack(found: Workload, watched: Watched, ports: WatchPorts, signal: AbortSignal): Promise<void> {
  let workload: Workload | undefined = found;
  for (let tries = 0; tries < maxTries && workload !== undefined; tries++) {
    const rollbacks = rollbacksOf(watched.policy.status, workload);
    const open = rollbacks.filter(({ isDone }) => !isDone);
    if (open.length === 0) return record(workload, rollbacks, watched, ports, signal);
    const problem = await tryPatch(workload, open, watched, ports, signal);
    if (problem === 'patched') return record(workload, rollbacks, watched, ports, signal);
    if (problem !== 'conflict') return giveUp(workload, open, problem.message, watched, ports, signal);
    ports.onConflict();
    workload = await ports.readWorkload(found, signal);
    watched.fresh.set(workloadKey(found), workload);
  }
  if (workload !== undefined) throw new Error(`${workloadKey(found)} changed under ${maxTries} rollbacks in a row`);
}

async function tryPatch(
  workload: Workload,
  open: readonly Rollback[],
  { policy, spec, fresh }: Watched,
  ports: WatchPorts,
  signal: AbortSignal,
): Promise<'patched' | 'conflict' | { readonly message: string }> {
  const changes = open.map(({ entry, container, index, init }) => ({
    container: container.name,
    index,
    ...(init && { init }),
    from: container.image,
    to: entry.from,
  }));
  const tag = open.map(({ entry }) => entry.from).join(', ');
  const plan: UpdatePlan = { candidate: { tag }, targets: [{ target: workload, workload, changes, kept: [] }] };
  const consents = await gatherConsents(policy, plan, { fresh, ports, signal });
  const { crossNamespace, repeatsPerHour } = ports;
  const context = { policy, spec, candidate: plan.candidate, crossNamespace, repeatsPerHour, now: ports.clock(), consents };
  const [target] = guardPlan(plan, context, rollbackGuards).targets;
  const hindrance = target?.problem ?? target?.withheld?.[0];
  if (hindrance !== undefined) return hindrance;
  const cause = `image-watcher: ImagePolicy ${policyKey(policy)} put back ${tag}: the rollout of ${open.map(({ entry }) => entry.tag).join(', ')} failed`;
  try {
    const result = await ports.patchImages(workload, changes, cause, signal);
    return result.kind;
  } catch (error) {
    if (error instanceof PermanentError) return error;
    throw error;
  }
}

async function record(
  workload: Workload,
  rollbacks: readonly Rollback[],
  { policy }: Watched,
  ports: WatchPorts,
  signal: AbortSignal,
): Promise<void> {
  if (rollbacks.length === 0) return;
  let before: PolicyStatus = policy.status;
  let after: PolicyStatus = policy.status;
  const now = ports.clock();
  const update = (status: PolicyStatus) => {
    before = status;
    after = settleRollbacks(status, workload, rollbacks, now);
    return withRolloutConditions({ ...policy, status }, after, ports.findWorkload, now);
  };
  await ports.writeStatus(policy, update, signal);
  if (before !== after) await reportRollback({ policy, before, after, findings: [] }, workload, rollbacks, ports);
}

async function giveUp(
  workload: Workload,
  open: readonly Rollback[],
  why: string,
  { policy }: Watched,
  ports: WatchPorts,
  signal: AbortSignal,
): Promise<void> {
  const entries: readonly HistoryEntry[] = open.map(({ entry }) => entry);
  const now = ports.clock();
  const update = (status: PolicyStatus) => {
    const noted = entries.reduce((known, entry) => noteNoRollback(known, entry, why), status);
    return withRolloutConditions({ ...policy, status }, noted, ports.findWorkload, now);
  };
  await ports.writeStatus(policy, update, signal);
  reportNoRollback(policy, workload, entries, why, ports);
}
