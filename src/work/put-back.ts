import { rollbacksOf, type Rollback } from '../core/current-rollouts.ts';
import { PermanentError } from '../core/errors.ts';
import { guardPlan, rollbackGuards } from '../core/guard-plan.ts';
import { policyKey } from '../core/image-policy.ts';
import { tryParseImageReference } from '../core/image-reference.ts';
import { withUpdates } from '../core/last-update.ts';
import type { UpdatePlan } from '../core/plan-update.ts';
import type { HistoryEntry, PolicyStatus } from '../core/policy-status.ts';
import { noteNoRollback, settleRollbacks, withRolloutConditions } from '../core/settle-rollouts.ts';
import { workloadKey, type Workload } from '../core/workload.ts';
import { defaultParallel } from './apply-plan.ts';
import { gatherConsents } from './gather-consents.ts';
import { inParallel } from './in-parallel.ts';
import { reportNoRollback, reportRollback } from './report-rollouts.ts';
import type { Watched, WatchPorts } from './watch-rollouts.ts';

const maxTries = 5;

/** A workload that is to be put back, with what a look a moment ago found failed. */
export interface Failed {
  readonly workload: Workload;
  readonly entries: readonly HistoryEntry[];
}

type Ending =
  | { readonly kind: 'back'; readonly workload: Workload; readonly rollbacks: readonly Rollback[] }
  | { readonly kind: 'refused'; readonly workload: Workload; readonly rollbacks: readonly Rollback[]; readonly why: string };

/**
 * Puts the images before failed changes back, with the same guarded patch as every change, several workloads at a time. The failure is in the status
 * already; what a crash leaves between the patch and the status is found by what runs.
 */
export async function putBack(failed: readonly Failed[], watched: Watched, ports: WatchPorts, signal: AbortSignal): Promise<void> {
  const { maxParallel = defaultParallel } = watched.spec;
  const results = await inParallel(failed, maxParallel, (one) => putWorkloadBack(one, watched, ports, signal));
  const endings = results.flatMap((result) => (result.status === 'fulfilled' && result.value !== undefined ? [result.value] : []));
  await record(endings, watched, ports, signal);
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

/** Undefined where there is nothing to put back any more. */
async function putWorkloadBack(
  { workload: found, entries }: Failed,
  watched: Watched,
  ports: WatchPorts,
  signal: AbortSignal,
): Promise<Ending | undefined> {
  let workload: Workload | undefined = found;
  for (let tries = 0; tries < maxTries && workload !== undefined; tries++) {
    const rollbacks = rollbacksOf(watched.policy.status, workload, entries);
    const open = rollbacks.filter(({ isDone }) => !isDone);
    if (rollbacks.length === 0) return undefined;
    if (open.length === 0) return { kind: 'back', workload, rollbacks };
    const problem = await tryPatch(workload, open, watched, ports, signal);
    if (problem === 'patched') return { kind: 'back', workload, rollbacks };
    if (problem !== 'conflict') return { kind: 'refused', workload, rollbacks: open, why: problem.message };
    ports.onConflict();
    workload = await ports.readWorkload(found, signal);
    watched.fresh.set(workloadKey(found), workload);
  }
  if (workload !== undefined) throw new Error(`${workloadKey(found)} changed under ${maxTries} rollbacks in a row`);
  return undefined;
}

async function tryPatch(
  workload: Workload,
  open: readonly Rollback[],
  { policy, spec, fresh }: Watched,
  ports: WatchPorts,
  signal: AbortSignal,
): Promise<'patched' | 'conflict' | { readonly message: string }> {
  const planned = open.map(({ entry, container, index, init }) => ({
    container: container.name,
    index,
    ...(init && { init }),
    from: container.image,
    to: entry.from,
  }));
  const now = ports.clock();
  const changes = planned.flatMap((change) => {
    const digest = tryParseImageReference(change.to)?.digest;
    return withUpdates(workload, [change], { policy: policy.uid, trigger: 'Rollback', at: now, digest });
  });
  const tag = open.map(({ entry }) => entry.from).join(', ');
  const plan: UpdatePlan = { candidate: { tag }, targets: [{ target: workload, workload, changes, kept: [] }] };
  const consents = await gatherConsents(policy, plan, { fresh, ports, signal });
  const { crossNamespace, repeatsPerHour } = ports;
  const context = { policy, spec, candidate: plan.candidate, crossNamespace, repeatsPerHour, now, consents };
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

/** One write for all that was put back and all that could not be. */
async function record(endings: readonly Ending[], { policy }: Watched, ports: WatchPorts, signal: AbortSignal): Promise<void> {
  if (endings.length === 0) return;
  let before: PolicyStatus = policy.status;
  let after: PolicyStatus = policy.status;
  const now = ports.clock();
  const back = endings.filter(({ kind }) => kind === 'back');
  const update = (status: PolicyStatus) => {
    before = status;
    after = settleRollbacks(
      status,
      back.flatMap(({ rollbacks }) => rollbacks),
      now,
    );
    let noted = after;
    for (const ending of endings) {
      if (ending.kind === 'refused') for (const { entry } of ending.rollbacks) noted = noteNoRollback(noted, entry, ending.why);
    }
    return withRolloutConditions({ ...policy, status }, noted, ports, now);
  };
  await ports.writeStatus(policy, update, signal);
  for (const ending of endings) {
    const { workload, rollbacks } = ending;
    const entries = rollbacks.map(({ entry }) => entry);
    if (ending.kind === 'refused') reportNoRollback(policy, workload, entries, ending.why, ports);
    else if (before !== after) await reportRollback({ policy, before, after, findings: [] }, workload, rollbacks, ports);
  }
}
