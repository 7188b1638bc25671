/**
 * The one path to a patch: select → plan → verify → apply → result, each a function from a value to a value. It reads all state itself and uses a job only as a
 * hint, so lost, repeated and reordered events do no harm.
 */
import { defined } from '../../core/model/defined.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import { followedBy } from '../../core/plan/proven.ts';
import { PermanentError } from '../../core/model/errors.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { type ApplyPorts, apply } from './apply.ts';
import { holdMutex } from '../../core/async/serialize.ts';
import {
  type Progress,
  findSame,
  noProgress,
  next,
  withProgress,
  type Again,
  type Attempt,
  type End,
  type ReconcileRequest,
} from './attempt.ts';
import { isClearedBySecret } from './enqueue/recovery-job.ts';
import { plan } from './plan.ts';
import type { Ports } from './ports.ts';
import { basisOf, resultOf } from './result.ts';
import { select, type SelectPorts } from './select.ts';
import { isSelectedFor, pushedElsewhere, rollbackBefore, usableSpec, withCompanion, withdrawnRollback } from './selection.ts';
import { verify, type VerifyPorts } from './verify.ts';

export type ReconcilePorts = SelectPorts & VerifyPorts & ApplyPorts & Pick<Ports, 'cluster'>;

/** How many attempts are made in a row without a change of any image. */
const maxAttempts = 5;
/** How many attempts are made in all, including those in which another writer was faster. Many policies of one workload change it one after the other. */
const maxOvertaken = 20;

/** What had changed when an attempt ended, for messages. A reconcile that has only taken the mutex is not included, because that is no change. */
const changed: Readonly<Record<Exclude<Again, 'Prepared'>, string>> = {
  Unassessed: 'the vulnerabilities that it has to know',
  Verified: 'what it selects',
  TargetChanged: 'its targets',
  Conflict: 'its targets',
  Overtaken: 'its targets',
  Outdated: 'what was decided or permitted',
  PolicyChanged: 'its spec',
  SecretChanged: 'its Secrets',
};

/**
 * Brings the targets of one policy to the image that it selects. Expected results are values; an exception causes a wait or a retry. The first attempt selects,
 * and verifies if it can, without the mutex of the policy, so that a slow registry delays nobody else. The mutex is then held until a result, or until so much
 * has changed that another image must be selected, or that sources of evidence have to be asked.
 */
export async function reconcilePolicy(request: ReconcileRequest, ports: ReconcilePorts, signal: AbortSignal): Promise<Outcome> {
  const key = policyKey(request.policy);
  const mutex = holdMutex(ports.policies.mutex, key);
  const changes: Exclude<Again, 'Prepared'>[] = [];
  try {
    for (
      let progress = noProgress;
      changes.filter((again) => again !== 'Overtaken').length < maxAttempts && changes.length < maxOvertaken;
    ) {
      const end = await attemptOnce(request, progress, ports, signal);
      if ('kind' in end) return withMade(end, progress);
      if (end.progress.applied.length > progress.applied.length) changes.length = 0;
      if (end.progress.applied.length > 0) request.onPartlyApplied?.(end.progress.applied);
      if (end.again !== 'Prepared') changes.push(end.again);
      // What others run is read again by each attempt.
      const { followed: _, ...kept } = end.progress;
      progress = kept;
      await (progress.selected === undefined ? mutex.release() : mutex.take());
    }
  } finally {
    mutex.release();
  }
  const what = new Set(changes.map((again) => changed[again]));
  throw new Error(`${key} changed during ${changes.length} attempts in a row: ${[...what].join(', ')}`);
}

/** The outcome with all changes of the reconcile. The last attempt may have ended early, because the policy was suspended or deleted during the reconcile. */
function withMade(outcome: Outcome, { applied }: Progress): Outcome {
  return applied.length > (outcome.changes?.length ?? 0) ? { ...outcome, changes: applied } : outcome;
}

/** The progress that remains if everything that was found is outdated: the changes that were made. */
function onlyMade({ applied }: Progress): Progress {
  return { ...noProgress, applied };
}

/** Reads the policy, and makes one attempt with it. */
async function attemptOnce(request: ReconcileRequest, progress: Progress, ports: ReconcilePorts, signal: AbortSignal): Promise<End> {
  const policy = findSame(request, ports.policies);
  if (policy === undefined) return { kind: 'ignored', reason: 'PolicyGone', message: `${policyKey(request.policy)} was deleted` };
  const spec = usableSpec(policy);
  if ('kind' in spec) return spec;
  const missed = pushedElsewhere(spec, request);
  if (missed !== undefined) return missed;
  const withdrawn = withdrawnRollback(policy, request);
  if (withdrawn !== undefined) return withdrawn;
  const awaited = rollbackBefore(policy, request);
  if (awaited !== undefined) return awaited;
  const { selected } = progress;
  if (selected !== undefined && !isSelectedFor(selected, policy)) return { again: 'PolicyChanged', progress: onlyMade(progress) };
  const { secrets = ports.policies.secretVersions(policy, spec) } = progress;
  const cluster = asSeenBy(policy, ports.cluster);
  const asked = withCompanion(request, spec);
  const found = await unlessStalled(withProgress({ policy, spec, request: asked, cluster, signal }, { ...progress, secrets }), ports);
  const end = 'kind' in found ? { follows: followedBy(policy, spec, cluster), ...found } : found;
  // Reported now, it might overwrite the result of the reconcile that the change caused, and no other would follow.
  const isOutdated = 'kind' in end && isClearedBySecret(end) && ports.policies.secretVersions(policy, spec) !== secrets;
  return isOutdated ? { again: 'SecretChanged', progress: onlyMade(progress) } : end;
}

async function unlessStalled(attempt: Attempt, ports: ReconcilePorts): Promise<End> {
  try {
    return await runStages(attempt, ports);
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    const { reason, message, retryAt, image } = error;
    return { kind: 'stalled', reason, message, ...defined({ retryAt, refused: image }) };
  }
}

/** Runs the stages of one attempt in their order. */
async function runStages(attempt: Attempt, ports: ReconcilePorts): Promise<End> {
  const selected = await select(attempt, ports);
  const planned = await next(selected, (selection) => plan(attempt, selection));
  const verified = await next(planned, (plan) => verify(attempt, plan, ports));
  const applied = await next(verified, (plan) => {
    attempt.request.onVerified?.();
    return apply(attempt, plan, ports);
  });
  return next(applied, (done) => ({ ...resultOf(done), basis: basisOf(done.attempt, done.selected) }));
}
