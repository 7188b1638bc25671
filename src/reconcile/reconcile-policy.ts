/**
 * The one path to a patch: select → plan → verify → apply → result, each a function from a value to a value. It reads all state itself and takes a job only as a
 * hint, so lost, repeated and reordered events do no harm.
 */
import type { Outcome } from '../plan/outcome.ts';
import { PermanentError } from '../model/errors.ts';
import { policyKey, type ImagePolicy } from '../model/image-policy.ts';
import { type ApplyPorts, apply } from './apply.ts';
import { abortable } from '../async/deadline.ts';
import { holdMutex } from '../async/serialize.ts';
import { type Progress, noProgress, next, withProgress, type Again, type Attempt, type End, type ReconcileRequest } from './attempt.ts';
import { isClearedBySecret } from './enqueue/needs-reconcile.ts';
import { plan } from './plan.ts';
import type { Policies, Ports } from './ports.ts';
import { resultOf } from './result.ts';
import { select, type SelectPorts } from './select.ts';
import { usableSpec } from './selection.ts';
import { verify, type VerifyPorts } from './verify.ts';

export type ReconcilePorts = SelectPorts & VerifyPorts & ApplyPorts & Pick<Ports, 'cluster'>;

const maxAttempts = 5;

/** What had changed when an attempt ended; taking the mutex is no change. */
const changed: Readonly<Record<Exclude<Again, 'Prepared'>, string>> = {
  Verified: 'what it selects',
  TargetChanged: 'its targets',
  Conflict: 'its targets',
  PolicyChanged: 'its spec',
  SecretChanged: 'its Secrets',
};

/**
 * Brings the targets of one policy to the image that it selects. Expected results are values; an exception means wait or try again. The first attempt selects, and
 * verifies if it can, without the mutex of the policy, so that a slow registry holds up nobody else. The mutex is then held until a result, or until so much has
 * changed that another image must be selected.
 */
export async function reconcilePolicy(request: ReconcileRequest, ports: ReconcilePorts, signal: AbortSignal): Promise<Outcome> {
  const key = policyKey(request.policy);
  const mutex = holdMutex(ports.policies.mutex, key);
  const changes: string[] = [];
  try {
    for (
      let progress = (request.selectedAhead && (await abortable(request.selectedAhead, signal))) ?? noProgress;
      changes.length < maxAttempts;
    ) {
      await (progress.selected === undefined ? mutex.release() : mutex.take());
      const end = await attemptOnce(request, progress, ports, signal);
      if ('kind' in end) return end;
      if (end.again !== 'Prepared') changes.push(changed[end.again]);
      ({ progress } = end);
    }
  } finally {
    mutex.release();
  }
  throw new Error(`${key} changed during ${maxAttempts} attempts in a row: ${[...new Set(changes)].join(', ')}`);
}

/** Only selects an image, as the first attempt does; returns what it has found, or undefined where that is no image. */
export async function selectOnly(request: ReconcileRequest, ports: ReconcilePorts, signal: AbortSignal): Promise<Progress | undefined> {
  const end = await attemptOnce(request, noProgress, ports, signal, async (attempt) => {
    const selected = await select(attempt, ports);
    return 'kind' in selected || 'again' in selected ? selected : { again: 'Prepared', progress: { ...attempt.progress, selected } };
  });
  return 'again' in end && end.again === 'Prepared' ? end.progress : undefined;
}

/** Reads the policy, and makes one attempt with it. */
async function attemptOnce(
  request: ReconcileRequest,
  progress: Progress,
  ports: ReconcilePorts,
  signal: AbortSignal,
  stages = runStages,
): Promise<End> {
  const policy = findSame(request, ports.policies);
  if (policy === undefined) return { kind: 'ignored', reason: 'PolicyGone', message: `${policyKey(request.policy)} was deleted` };
  const spec = usableSpec(policy);
  if ('kind' in spec) return spec;
  const { selected } = progress;
  if (selected !== undefined && selected.generation !== policy.generation) return { again: 'PolicyChanged', progress: noProgress };
  const { secrets = ports.policies.secretVersions(policy, spec) } = progress;
  const attempt = withProgress({ policy, spec, request, cluster: ports.cluster, signal }, { ...progress, secrets });
  const end = await unlessStalled(() => stages(attempt, ports));
  // Reported now, it might overwrite the result of the reconcile that the change caused, and no other would follow.
  const isOutdated = 'kind' in end && isClearedBySecret(end) && ports.policies.secretVersions(policy, spec) !== secrets;
  return isOutdated ? { again: 'SecretChanged', progress: noProgress } : end;
}

async function unlessStalled(work: () => Promise<End>): Promise<End> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    const { reason, message, retryAt } = error;
    return { kind: 'stalled', reason, message, ...(retryAt && { retryAt }) };
  }
}

/** The story. */
async function runStages(attempt: Attempt, ports: ReconcilePorts): Promise<End> {
  const selected = await select(attempt, ports);
  const planned = await next(selected, (selection) => plan(attempt, selection));
  const verified = await next(planned, (plan) => verify(attempt, plan, ports));
  const applied = await next(verified, (plan) => {
    attempt.request.onVerified?.();
    return apply(attempt, plan, ports);
  });
  return next(applied, resultOf);
}

/** The policy of the request; a policy that was deleted and created anew under the same name is another one. */
function findSame({ policy: { namespace, name, uid } }: ReconcileRequest, { find }: Policies): ImagePolicy | undefined {
  const policy = find(namespace, name);
  return policy?.uid === uid ? policy : undefined;
}
