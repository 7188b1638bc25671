import type { Candidate } from '../model/image-reference.ts';
import { WaitError } from '../model/errors.ts';
import { isUsable, policyKey, type ImagePolicy } from '../model/image-policy.ts';
import type { ReconcileCause } from '../status/next-status.ts';
import type { Outcome } from '../plan/outcome.ts';
import type { AppliedChange } from '../plan/plan-update.ts';
import type { PolicyJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';
import { endWait } from './enqueue/wait-job.ts';
import { withFreshState } from './enqueue/fresh-state.ts';
import { causedAt } from './denied-pushes.ts';
import type { Ports, Registry } from './ports.ts';
import { reconcilePolicy } from './reconcile-policy.ts';
import type { ReconcileRequest } from './attempt.ts';
import { announcedAt } from './resolve-tag.ts';
import { reportFailure, reportGone, reportOutcome } from './report.ts';
import { watchRollouts } from './rollouts/watch-rollouts.ts';

/** One try of a job to reconcile a policy: what is requested, and why. */
export interface ReconcileTry extends Pick<JobContext, 'failures' | 'isLastTry' | 'signal'> {
  readonly request: ReconcileRequest;
  readonly cause: ReconcileCause;
}

/**
 * Reconciles one policy and reports the result. Returns when the registry, the API server and the audit record have confirmed it; throws WaitError where a
 * registry refuses and is to be asked again. `prepare` may replace the ports; if it fails, the reconcile has failed.
 */
export async function reconcileAndReport(
  attempted: ReconcileTry,
  ports: Ports,
  prepare: () => Promise<Ports> = () => Promise.resolve(ports),
): Promise<Outcome> {
  const outcome = await tryAndReport(attempted, ports, prepare);
  if (outcome.retryAt !== undefined) throw new WaitError(outcome.reason, outcome.retryAt, outcome.message);
  return outcome;
}

async function tryAndReport(
  { request, cause, failures, isLastTry, signal }: ReconcileTry,
  ports: Ports,
  prepare: () => Promise<Ports>,
): Promise<Outcome> {
  const { namespace, name } = request.policy;
  const key = policyKey(request.policy);
  let policy = ports.policies.find(namespace, name);
  let applied: readonly AppliedChange[] = [];
  let verifiedAt: number | undefined;
  const onVerified = () => void (verifiedAt ??= ports.cluster.now());
  try {
    const prepared = await prepare();
    policy = prepared.policies.find(namespace, name);
    const since = causedAt(cause, isLastTry);
    const onPartlyApplied = (changes: readonly AppliedChange[]) => void (applied = changes);
    const found = await reconcilePolicy(
      { ...request, source: cause.source, sinceMs: Date.parse(cause.receivedAt), onVerified, onPartlyApplied },
      since === undefined ? prepared : { ...prepared, registry: withCause(prepared.registry, since) },
      signal,
    );
    const outcome = ports.registry.deniedPushes.recordResult(found, request.policy.uid, cause, isLastTry);
    if (policy === undefined) await reportGone(key, outcome, cause, ports);
    else await reportOutcome({ policy, cause: onlyAsked(cause, policy), signal, verifiedAt }, outcome, ports);
    return outcome;
  } catch (error) {
    const { hint } = request;
    await reportFailure({ policy, key, cause, failures, isLastTry, applied, ...(hint !== undefined && { hint }), signal }, error, ports);
    throw error;
  }
}

/** The registry, asked because of what was received at `causedAt`, in ms since 1970. */
export function withCause(registry: Registry, causedAt: number): Registry {
  return { ...registry, sourceOf: (...of) => ({ ...registry.sourceOf(...of), causedAt }) };
}

/** The processor of the queue `policy`. */
export async function processPolicyJob(job: PolicyJob, context: JobContext, allPorts: Ports): Promise<void> {
  if (job.task === 'rollout') return watchRollouts(job, allPorts, context.signal);
  const { policy, source, receivedAt, eventId, receiver, hint, actions } = job;
  const ports = job.wait === undefined ? allPorts : await endWait(job.wait, policy, allPorts, context.signal);
  if (ports === undefined) return;
  const resolved = context.failures === 0 ? recallAnswer(job, ports) : undefined;
  const request: ReconcileRequest = {
    policy,
    announced: source === 'Webhook',
    announcedAt: announcedAt(receivedAt, ports.cluster.now()),
    ...(hint !== undefined && { hint }),
    ...(resolved !== undefined && { resolved }),
  };
  const cause: ReconcileCause = {
    source,
    receivedAt,
    ...(eventId !== undefined && { eventId }),
    ...(receiver !== undefined && { receiver }),
    isHinted: hint !== undefined,
    ...(source === 'Request' && actions?.requestedAt !== undefined && { request: actions.requestedAt }),
  };
  const prepare = () => withFreshState(job, ports, context.signal);
  const rollback = source === 'Rollback' ? actions?.rollbackTo : undefined;
  const isOpen = ports.policies.find(policy.namespace, policy.name)?.status.lastHandledRollback !== rollback;
  // A normal reconcile follows: it reports what the policy selects, and that the policy is held.
  if (rollback !== undefined && isOpen)
    await reconcileAndReport({ ...context, request: { ...request, rollbackTo: rollback }, cause: { ...cause, rollback } }, ports, prepare);
  await reconcileAndReport({ ...context, request, cause }, ports, prepare);
}

/** What the registry answered on behalf of this policy, with its present spec, when this process made the job. */
function recallAnswer({ policy: { namespace, name }, cause, hint }: PolicyJob, ports: Ports): Candidate | undefined {
  const policy = ports.policies.find(namespace, name);
  if (hint === undefined || policy === undefined || !isUsable(policy.spec)) return undefined;
  return ports.registry.sharedAnswers.recall(cause, ports.registry.sourceOf(policy, policy.spec), hint.tag);
}

/** A job must not answer a request that its policy does not carry: a user may make the same request later. */
function onlyAsked({ request, rollback, ...cause }: ReconcileCause, { actions = {} }: ImagePolicy): ReconcileCause {
  return {
    ...cause,
    ...(request !== undefined && request === actions.requestedAt && { request }),
    ...(rollback !== undefined && rollback === actions.rollbackTo && { rollback }),
  };
}
