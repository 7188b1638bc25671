import { rollbacksOf, type RefusedRollback, type Rollback } from '../../../core/rollout/automatic-rollback.ts';
import { confirmAll } from '../../../core/model/confirmation.ts';
import { PermanentError } from '../../../core/model/errors.ts';
import { guardPlan, rollbackGuards } from '../../../core/plan/guard-plan.ts';
import { policyKey, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { parseImageReference, tryParseImageReference } from '../../../core/model/image-reference.ts';
import { lastUpdateOf, withUpdates } from '../../../core/model/last-update.ts';
import { oneMoreFailure } from '../../../core/plan/retries.ts';
import type { UpdatePlan } from '../../../core/plan/plan-update.ts';
import { type HistoryEntry, type PolicyStatus, maxLengths } from '../../../core/model/policy-status.ts';
import { noteNoRollback, recordRollbacks, withRolloutConditions, type Refusal } from '../../../core/status/record-rollouts.ts';
import { cut } from '../../../core/model/text.ts';
import { isNewer, workloadKey, type Workload } from '../../../core/model/workload.ts';
import { defaultParallel } from '../apply.ts';
import { gatherConsents, type ConfirmConsent } from '../consents.ts';
import { inParallel } from '../../../core/async/in-parallel.ts';
import { reportNoRollback, reportRefused, reportRollback } from './report-rollouts.ts';
import { verifyEarlier } from '../verify.ts';
import type { RolloutCheck } from './watch-rollouts.ts';
import type { Ports } from '../ports.ts';

const maxTries = 5;

/** A workload that is to be rolled back, with the changes that were just found failed. */
export interface Failed {
  readonly workload: Workload;
  readonly entries: readonly HistoryEntry[];
}

type RollbackResult =
  | { readonly kind: 'back'; readonly workload: Workload; readonly rollbacks: readonly Rollback[] }
  | { readonly kind: 'refused'; readonly workload: Workload; readonly rollbacks: readonly Rollback[]; readonly refusal: Refusal };

/**
 * Rolls back to the images before failed changes, with the same guarded patch as every change, several workloads at a time. The status already shows the
 * failure; after a crash between patch and status, the rollback is found by the running images. A change that must not be rolled back (`refused`) is only
 * reported.
 */
export async function rollBack(
  { failed, refused }: { readonly failed: readonly Failed[]; readonly refused: readonly RefusedRollback[] },
  check: RolloutCheck,
  ports: Ports,
): Promise<void> {
  const { maxParallel = defaultParallel } = check.spec;
  const results = await inParallel(failed, maxParallel, (one) => rollBackWorkload(one, check, ports));
  const outcomes = results.flatMap((result) => (result.status === 'fulfilled' && result.value !== undefined ? [result.value] : []));
  await record({ outcomes, refused }, check, ports);
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

/** Rolls back one workload; undefined where nothing is left to roll back. */
async function rollBackWorkload(
  { workload: found, entries }: Failed,
  check: RolloutCheck,
  ports: Ports,
): Promise<RollbackResult | undefined> {
  let workload: Workload | undefined = found;
  for (let tries = 0; tries < maxTries && workload !== undefined; tries++) {
    const policy: ImagePolicy | undefined = newestOf(check.policy, ports);
    // The change of the policy causes a reconcile of its own.
    if (policy === undefined) return undefined;
    const rollbacks = rollbacksOf(policy, workload, ports.cluster.aliases, entries);
    const open = rollbacks.filter(({ isDone }) => !isDone);
    if (rollbacks.length === 0) return undefined;
    if (open.length === 0) return { kind: 'back', workload, rollbacks };
    const result = await tryPatch(workload, open, { ...check, policy }, ports);
    if (typeof result === 'object' && 'kind' in result)
      return { kind: 'back', workload, rollbacks: rollbacks.map((one) => withTime(one, result.workload)) };
    if (result === 'outdated') continue;
    if (result !== 'conflict') return { kind: 'refused', workload, rollbacks: open, refusal: result };
    ports.workloads.onConflict();
    workload = await ports.workloads.read(found, check.signal);
    check.fresh.set(workloadKey(found), workload);
  }
  if (workload !== undefined) throw new Error(`${workloadKey(found)} changed under ${maxTries} rollbacks in a row`);
  return undefined;
}

/** The policy with its newest status and actions; undefined if it was deleted or its spec was changed. */
function newestOf(policy: ImagePolicy, { policies }: Ports): ImagePolicy | undefined {
  const now = policies.find(policy.namespace, policy.name);
  if (now?.uid !== policy.uid || now.generation > policy.generation) return undefined;
  return isNewer(now.resourceVersion, policy.resourceVersion) ? now : policy;
}

interface Patched {
  readonly kind: 'patched';
  readonly workload: Workload;
}

/** The rollback with its time, as the workload records it now. */
function withTime(rollback: Rollback, workload: Workload): Rollback {
  const update = lastUpdateOf(workload, rollback.container.name);
  return update?.to === rollback.entry.from ? { ...rollback, at: update.at } : rollback;
}

async function tryPatch(
  workload: Workload,
  open: readonly Rollback[],
  check: RolloutCheck,
  ports: Ports,
): Promise<Patched | 'conflict' | 'outdated' | Refusal> {
  const { policy, signal } = check;
  const now = new Date(ports.cluster.now());
  const changes = open.flatMap(({ entry, container, position }) => {
    const change = { container: container.name, ...position, from: container.image, to: entry.from };
    const digest = tryParseImageReference(change.to)?.digest;
    const { failure, digest: failed } = entry;
    const isOutside = failure !== undefined && failure.against !== 'image';
    const retry = isOutside ? () => oneMoreFailure(container, policy, failure.message) : undefined;
    return withUpdates(workload, [change], { policy: policy.uid, trigger: 'Rollback', at: now, digest, failed, retry });
  });
  const tag = open.map(({ entry }) => entry.from).join(', ');
  const plan: UpdatePlan = { candidate: { tag }, targets: [{ target: workload, workload, changes, unchanged: [] }] };
  // The registry may be slow, so policy and consents are read after it has answered.
  const unverified = await whyNotVerified(open, check, ports);
  if (unverified !== undefined) return { reason: 'RollbackRefused', why: unverified };
  const { why, confirm: confirmConsent } = await whyNotAllowed(plan, check, ports);
  if (why !== undefined) return { reason: 'RollbackRefused', why };
  const confirm = () => confirmAll([() => ports.policies.confirm(policy, signal), () => confirmConsent(workload)]);
  const cause = `image-watcher: ImagePolicy ${policyKey(policy)} rolled back to ${tag}: the rollout of ${open.map(({ entry }) => entry.tag).join(', ')} failed`;
  try {
    const result = await ports.workloads.patchImages(workload, changes, cause, confirm, signal);
    return result.kind === 'patched' ? result : result.kind;
  } catch (error) {
    if (error instanceof PermanentError) return { reason: 'RollbackFailed', why: error.message };
    throw error;
  }
}

/** Why the owners of the workload or the configuration do not allow the rollback now, if they do not; and how their consent is confirmed. */
async function whyNotAllowed(
  plan: UpdatePlan,
  { policy, spec, signal }: RolloutCheck,
  ports: Ports,
): Promise<{ readonly why: string | undefined; readonly confirm: ConfirmConsent }> {
  const { consents, confirm } = await gatherConsents({ policy, cluster: ports.cluster, signal }, plan, ports.workloads);
  const { crossNamespace, repeatsPerHour } = ports.cluster;
  const context = { policy, spec, candidate: plan.candidate, crossNamespace, repeatsPerHour, now: new Date(ports.cluster.now()), consents };
  const [target] = guardPlan(plan, context, rollbackGuards).targets;
  return { why: (target?.problem ?? target?.blocked?.[0])?.message, confirm };
}

/** Why the earlier images lack the signatures that the policy demands now; undefined where they have them. */
async function whyNotVerified(
  open: readonly Rollback[],
  { policy, spec, signal }: RolloutCheck,
  ports: Ports,
): Promise<string | undefined> {
  try {
    for (const from of new Set(open.map(({ entry }) => entry.from))) {
      await verifyEarlier({ policy, spec, signal }, parseImageReference(from, ports.cluster.aliases), ports);
    }
    return undefined;
  } catch (error) {
    if (error instanceof PermanentError) return error.message;
    throw error;
  }
}

/** One write to the status for all rollbacks, done and refused. */
async function record(
  { outcomes, refused }: { readonly outcomes: readonly RollbackResult[]; readonly refused: readonly RefusedRollback[] },
  { policy, signal }: RolloutCheck,
  ports: Ports,
): Promise<void> {
  if (outcomes.length === 0 && refused.length === 0) return;
  let before: PolicyStatus = policy.status;
  let after: PolicyStatus = policy.status;
  const now = new Date(ports.cluster.now());
  const back = outcomes.flatMap((outcome) => (outcome.kind === 'back' ? outcome.rollbacks : []));
  const update = (status: PolicyStatus) => {
    before = status;
    after = recordRollbacks(status, back, now);
    let noted = after;
    for (const outcome of outcomes) {
      if (outcome.kind === 'refused') for (const { entry } of outcome.rollbacks) noted = noteNoRollback(noted, entry, outcome.refusal, now);
    }
    for (const { entry, why } of refused) noted = noteNoRollback(noted, entry, { reason: 'RollbackRefused', why }, now);
    return withRolloutConditions({ ...policy, status }, noted, ports.cluster, now);
  };
  await ports.policies.writeStatus(policy, update, signal);
  for (const one of refused) reportRefused(policy, one, ports);
  for (const outcome of outcomes) {
    const { workload, rollbacks } = outcome;
    const entries = rollbacks.map(({ entry }) => entry);
    if (outcome.kind === 'back') {
      if (before !== after) await reportRollback({ policy, before }, workload, rollbacks, ports);
    } else if (entries.some((entry) => entry.rollbackRefused?.message !== cut(outcome.refusal.why, maxLengths.message))) {
      reportNoRollback({ policy, workload, entries }, outcome.refusal, ports);
    }
  }
}
