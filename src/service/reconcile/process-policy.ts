import { defined } from '../../core/model/defined.ts';
import { sameRepository, type Candidate } from '../../core/model/image-reference.ts';
import { PermanentError, WaitError } from '../../core/model/errors.ts';
import { isUsable, policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import type { PolicyStatus } from '../../core/model/policy-status.ts';
import type { ReconcileCause } from '../../core/status/next-status.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import type { AppliedChange } from '../../core/plan/plan-update.ts';
import type { PolicyJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';
import { isChangedTargetsJob } from './enqueue/needs-reconcile.ts';
import { endWait } from './enqueue/wait-job.ts';
import { withFreshState, withPolicyRead, withTargetsRead } from './enqueue/fresh-state.ts';
import { concealedHint, concealInError, concealInOutcome } from './conceal-push.ts';
import { causedAt } from './denied-pushes.ts';
import type { Ports, Registry } from './ports.ts';
import { reconcilePolicy } from './reconcile-policy.ts';
import type { Hint } from './resolve-tag.ts';
import { isElsewhere } from './selection.ts';
import { findSame, type ReconcileRequest } from './attempt.ts';
import { isSecondLook, secondLook, showsNew } from './second-look.ts';
import { showTargetsAlone } from './show-targets.ts';
import { completingJob } from './enqueue/completing-job.ts';
import { reportChanges } from './report-changes.ts';
import { reportFailure } from './report-failure.ts';
import { reportGone, reportOutcome } from './report.ts';
import { openRollback } from '../../core/plan/rollback.ts';

/** How many rollbacks may be requested during one reconcile. */
const maxRollbacks = 3;
const rollbackPauseMs = 1_000;

/** One try of a job to reconcile a policy: the request, its cause, and the state of the job. */
export interface ReconcileTry extends Pick<JobContext, 'failures' | 'isLastTry' | 'wasLost' | 'isOurs' | 'signal'> {
  readonly request: ReconcileRequest;
  readonly cause: ReconcileCause;
}

/**
 * Reconciles one policy and reports the result. Returns when the registry, the API server and the audit record have confirmed it; throws WaitError if a
 * registry refuses and is to be asked again. `prepare` may replace the ports; if it fails, the reconcile has failed.
 */
export async function reconcileAndReport(
  attempted: ReconcileTry,
  ports: Ports,
  prepare: () => Promise<Ports> = () => Promise.resolve(ports),
): Promise<Outcome> {
  for (let rounds = 0; rounds < maxRollbacks; rounds++) {
    await rollBackFirst(attempted, ports);
    const outcome = await tryAndReport(attempted, ports, prepare);
    if (outcome?.retryAt !== undefined) throw new WaitError(outcome.reason, outcome.retryAt, outcome.message);
    if (outcome !== undefined) return outcome;
  }
  const until = new Date(ports.cluster.now() + rollbackPauseMs);
  throw new WaitError('RollbackRequested', until, 'a rollback was asked for again and again');
}

/** Applies the rollback that a user has requested before anything else is done, also if the job of that request was lost. */
async function rollBackFirst(attempted: ReconcileTry, ports: Ports): Promise<void> {
  const policy = findSame(attempted.request, ports.policies);
  const rollback = policy && attempted.request.rollbackTo === undefined ? openRollback(policy) : undefined;
  if (policy === undefined || rollback === undefined) return;
  const receivedAt = new Date(ports.cluster.now()).toISOString();
  const cause = { source: 'Rollback', receivedAt, rollback } as const;
  const request = { policy: attempted.request.policy, announced: false, rollbackTo: rollback };
  await reconcileAndReport({ ...attempted, request, cause }, ports);
  // The attempt may have been about another image than the selected one, and no job may follow for a request that is handled.
  if (attempted.request.hint !== undefined) await ports.queues.addPolicyJobs([completingJob(policy, new Date(ports.cluster.now()))]);
}

/** Makes one try and reports it; undefined if a user has requested a rollback since, which comes first. */
async function tryAndReport(
  { request, cause, failures, isLastTry, wasLost, isOurs, signal }: ReconcileTry,
  ports: Ports,
  prepare: () => Promise<Ports>,
): Promise<Outcome | undefined> {
  const { namespace, name } = request.policy;
  const key = policyKey(request.policy);
  let policy = ports.policies.find(namespace, name);
  let applied: readonly AppliedChange[] = [];
  let verifiedAt: number | undefined;
  let otherDigest: string | undefined;
  let seen = ports;
  const onVerified = () => void (verifiedAt ??= ports.cluster.now());
  try {
    const current = failures === 0 ? await prepare() : await withPolicyRead(request.policy, await prepare(), signal);
    const isOfTargets = wasLost || request.rollbackTo !== undefined;
    const prepared = isOfTargets ? await withTargetsOf(request.policy, current, signal) : current;
    seen = { ...ports, cluster: prepared.cluster };
    policy = prepared.policies.find(namespace, name);
    const since = causedAt(cause, isLastTry);
    const onOtherDigest = (digest: string) => void (otherDigest = digest);
    const onPartlyApplied = (changes: readonly AppliedChange[]) => void (applied = changes);
    const found = await reconcilePolicy(
      {
        ...request,
        source: cause.source,
        eventId: cause.eventId,
        sinceMs: Date.parse(cause.receivedAt),
        onVerified,
        onPartlyApplied,
        onOtherDigest,
      },
      since === undefined ? prepared : { ...prepared, registry: withCause(prepared.registry, since) },
      signal,
    );
    if (found.reason === 'RollbackRequested' && policy !== undefined) {
      reportChanges(policy, found, cause, ports);
      return undefined;
    }
    const concealed = await concealedOf(request, policy, ports);
    const shown = concealed === undefined ? found : concealInOutcome(found, concealed);
    const outcome = ports.registry.deniedPushes.recordResult(shown, request.policy.uid, cause, isLastTry);
    if (policy === undefined) await reportGone(key, outcome, cause, seen);
    else
      await reportOutcome(
        {
          policy,
          cause: { ...onlyAsked(cause, policy), ...(concealed === undefined && pushedImage(request.hint, policy)) },
          signal,
          verifiedAt,
          otherDigest: concealed === undefined ? otherDigest : undefined,
        },
        outcome,
        seen,
      );
    const again = policy && secondLook(policy, request, { cause, outcome, now: ports.cluster.now() });
    if (again !== undefined) await ports.queues.addPolicyJobs([again]);
    return outcome;
  } catch (error) {
    const concealed = await concealedOf(request, policy, ports);
    const image = concealed === undefined ? (imageOf(error) ?? request.hint) : undefined;
    await reportFailure(
      { policy, key, cause, failures, isLastTry, isOurs, applied, ...defined({ image }), signal },
      concealed === undefined ? error : concealInError(error, concealed),
      seen,
    );
    throw error;
  }
}

function imageOf(error: unknown): Candidate | undefined {
  return error instanceof WaitError || error instanceof PermanentError ? error.image : undefined;
}

/** The hint of a push whose content the policy may not see; otherwise undefined. */
async function concealedOf({ hint }: ReconcileRequest, policy: ImagePolicy | undefined, { registry }: Ports): Promise<Hint | undefined> {
  if (policy === undefined || !isUsable(policy.spec)) return undefined;
  if (hint !== undefined && isElsewhere(hint, policy.spec)) return hint;
  const spec = { ...policy.spec, repository: hint?.repository ?? policy.spec.repository };
  return concealedHint(hint, registry.sourceOf(policy, spec), registry);
}

/** The image of a push that is about the repository of the policy, and not about that of a companion. */
function pushedImage(hint: Hint | undefined, { spec }: ImagePolicy): Pick<ReconcileCause, 'pushed'> {
  const isOwn = hint !== undefined && isUsable(spec) && sameRepository(hint.repository ?? spec.repository, spec.repository);
  return isOwn ? { pushed: { tag: hint.tag, ...defined({ digest: hint.digest }) } } : {};
}

/**
 * The ports with the targets of a policy read from the API server. A worker that is lost may have changed them, and its changes belong into this report; and a
 * rollback is about what runs now, where a cache that lags may show what ran before the change that is to be undone.
 */
async function withTargetsOf({ namespace, name }: ReconcileRequest['policy'], ports: Ports, signal: AbortSignal): Promise<Ports> {
  const policy = ports.policies.find(namespace, name);
  return policy === undefined ? ports : { ...ports, cluster: await withTargetsRead(policy, ports, signal) };
}

function withCause(registry: Registry, causedAt: number): Registry {
  return { ...registry, sourceOf: (...of) => ({ ...registry.sourceOf(...of), causedAt }) };
}

/** Whether the status says that a try has failed. A worker that was taken for dead may have written it, too. */
function saysRetrying({ conditions = [] }: PolicyStatus = {}): boolean {
  return conditions.some(({ type, reason }) => type === 'Ready' && reason === 'Retrying');
}

/** Reconciles the policy of a job. */
export async function processPolicyJob(given: PolicyJob, context: JobContext, allPorts: Ports): Promise<void> {
  const job = forSuccessor(given, allPorts.policies);
  const { policy, source, receivedAt, eventId, receiver, hint, actions } = job;
  const ports = job.wait === undefined ? allPorts : await endWait(job.wait, policy, allPorts, context.signal);
  if (ports === undefined) return;
  if (isSecondLook(job) && !(await showsNew(job, ports, context.signal))) return;
  const isAboutTargets = isChangedTargetsJob(job);
  if (isAboutTargets && (await showTargetsAlone(job, ports, context.signal))) return;
  const found = ports.policies.find(policy.namespace, policy.name);
  const request: ReconcileRequest = {
    policy,
    // A webhook without an image has announced a scan, and the registry shows its images already.
    announced: source === 'Webhook' && hint !== undefined,
    announcedAt: ports.registry.announcements.since(eventId ?? job.cause, receivedAt),
    ...defined({ hint, answeredFor: context.failures === 0 ? job.cause : undefined }),
    // What a failed try has written to the status is cleared only by a whole reconcile.
    ...(isAboutTargets && context.failures === 0 && !saysRetrying(found?.status) && { isAboutTargets }),
  };
  const cause: ReconcileCause = {
    source,
    receivedAt,
    ...defined({ eventId, receiver }),
    isHinted: hint !== undefined,
    ...(source === 'Request' && actions?.requestedAt !== undefined && { request: actions.requestedAt }),
  };
  const prepare = () => withFreshState(job, ports, context.signal);
  const rollback = source === 'Rollback' ? actions?.rollbackTo : undefined;
  const isOpen = found?.status.lastHandledRollback !== rollback;
  // A normal reconcile follows the rollback. It reports what the policy selects, and that the policy is held.
  if (rollback !== undefined && isOpen)
    await reconcileAndReport({ ...context, request: { ...request, rollbackTo: rollback }, cause: { ...cause, rollback } }, ports, prepare);
  // The changes of the following reconcile have a cause of their own, because the rollback did not cause them.
  const next = source === 'Rollback' ? { ...cause, source: 'TargetChange' as const } : cause;
  await reconcileAndReport({ ...context, request, cause: next }, ports, prepare);
}

/**
 * The job of a push for the policy that was created under the name of its own since, as `kubectl replace --force` does: that one may have listed the tags before the
 * registry showed the push. Any other job is left as it is.
 */
function forSuccessor(job: PolicyJob, { find }: Ports['policies']): PolicyJob {
  const { policy, hint, receivedAt } = job;
  const found = hint === undefined ? undefined : find(policy.namespace, policy.name);
  // A cache that lags may still have the one before.
  const isLater = Date.parse(found?.createdAt ?? '') > Date.parse(receivedAt);
  return found === undefined || found.uid === policy.uid || !isLater ? job : { ...job, policy: { ...policy, uid: found.uid } };
}

/** The cause with only those requests that the policy still carries. A job must not answer any other, because a user may make it later. */
function onlyAsked({ request, rollback, ...cause }: ReconcileCause, { actions = {} }: ImagePolicy): ReconcileCause {
  return {
    ...cause,
    ...(request !== undefined && request === actions.requestedAt && { request }),
    ...(rollback !== undefined && rollback === actions.rollbackTo && { rollback }),
  };
}
