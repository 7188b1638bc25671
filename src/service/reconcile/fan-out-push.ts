/** A push that several policies watch: the registry is asked once for each source, and all policies that want the push are reconciled side by side. */
import { defined } from '../../core/model/defined.ts';
import { WaitError } from '../../core/model/errors.ts';
import { isUsable, type ImagePolicy } from '../../core/model/image-policy.ts';
import { accessKey, type ImageSource } from '../../core/model/image-source.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import { jobBackoff } from '../../core/async/backoff.ts';
import { inParallel, throwFirst } from '../../core/async/in-parallel.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import { policyJob, type PolicyJob, type PushJob } from '../queue/jobs.ts';
import { inPolicySpan } from '../queue/job-spans.ts';
import type { JobContext } from '../queue/worker.ts';
import type { ReconcileCause } from '../../core/status/next-status.ts';
import { runningNow } from './attempt.ts';
import { isKnown } from './examine-tag.ts';
import type { Ports } from './ports.ts';
import { reconcileAndReport } from './process-policy.ts';
import { reportOutcome } from './report.ts';
import { resolveCandidate, type Hint } from './resolve-tag.ts';

/** A policy that watches the repository of a push, and its outcome if it need not be reconciled. */
export interface Match {
  readonly policy: ImagePolicy;
  readonly outcome: Outcome | undefined;
}

/** How many policies are reconciled at the same time: enough that hundreds of images are changed before the first status is written. */
const atOnce = 256;

/** Reconciles the policies that want a push, and reports the outcome of the others. A policy gets a job of its own only if it has to wait or to try again. */
export async function fanOutPush(push: PushJob, matches: readonly Match[], context: JobContext, ports: Ports): Promise<void> {
  const { signal } = context;
  const interested = matches.flatMap(({ policy, outcome }) => (outcome === undefined ? [policy] : []));
  await Promise.all(bySource(push, interested, ports).map((group) => resolveOnce(push, group, ports, signal)));
  const cause = causeOf(push);
  const tries = inParallel(interested, atOnce, (policy) => inPolicySpan(policy, () => tryOnce(push, { policy, cause }, context, ports)));
  // Outcomes of policies that do not want the push are reported last, so that they do not delay those that do; but no policy may take long enough to delay them.
  const reports = Promise.allSettled(
    matches.flatMap(({ policy, outcome }) => (outcome === undefined ? [] : [reportOutcome({ policy, cause, signal }, outcome, ports)])),
  );
  throwFirst([...(await tries), ...(await reports)]);
}

/** Reconciles one of several policies. If that fails, the policy gets its job at once, and waits for no other policy. */
async function tryOnce(push: PushJob, subject: PushedPolicy, context: JobContext, ports: Ports): Promise<void> {
  try {
    // A later job follows, so this try is not the last one.
    await reconcileForPush(push, subject, { ...context, isLastTry: false }, ports);
  } catch (error) {
    context.signal.throwIfAborted();
    await ports.queues.addPolicyJobs([jobAgain(push, subject.policy, error, ports.cluster.now())]);
  }
}

/** A policy that a push is for, and the push as the cause of its reconcile. */
interface PushedPolicy {
  readonly policy: ImagePolicy;
  readonly cause: ReconcileCause;
}

interface SourceGroup {
  readonly source: ImageSource;
  readonly policies: ImagePolicy[];
}

/** Groups policies that may share an answer of the registry. */
function bySource(push: PushJob, policies: readonly ImagePolicy[], { registry }: Ports): SourceGroup[] {
  const groups = new Map<string, SourceGroup>();
  for (const policy of policies) {
    const { repository } = push;
    // Of a policy with companions, the push may be of one of them.
    const source: ImageSource = isUsable(policy.spec) ? registry.sourceOf(policy, { ...policy.spec, repository }) : repository;
    const group = groups.get(accessKey(source)) ?? { source, policies: [] };
    group.policies.push(policy);
    groups.set(accessKey(source), group);
  }
  return [...groups.values()];
}

/**
 * Asks the registry once for all policies that this process handles. If that fails or finds nothing, each policy asks and reports for itself. This way, the
 * policies wait for the registry once instead of in each job.
 */
async function resolveOnce(push: PushJob, { source, policies }: SourceGroup, ports: Ports, signal: AbortSignal): Promise<void> {
  const { tag } = push;
  const { registry, cluster, report } = ports;
  const isNewTo = (policy: ImagePolicy, digest: string) =>
    isUsable(policy.spec) && !isKnown({ tag, digest }, policy, policy.spec, asSeenBy(policy, cluster));
  try {
    const at = cluster.now();
    const running = await runningNow(policies, cluster, signal);
    const patience = {
      announced: true,
      announcedAt: registry.announcements.since(push.id, push.receivedAt),
      signal,
      now: cluster.now,
      // A policy that already knows the digest asks for itself and delays no other.
      mayBePushed: async (digest: string) => policies.some((policy) => isNewTo(policy, digest)),
    };
    const asked = { ...source, causedAt: Date.parse(push.receivedAt) };
    const answer = await resolveCandidate(asked, hintOf(push), registry.resolveTag, patience);
    if (answer !== undefined) registry.sharedAnswers.remember({ cause: jobCauseOf(push), source, tag }, { answer, at, running });
  } catch (error) {
    if (error instanceof WaitError && error.reason === 'NotShownYet') throw error;
    report.logger.debug({ err: error, event: push.id }, 'shared manifest request failed');
  }
}

/** Reconciles one policy for a push. */
export async function reconcileForPush(push: PushJob, { policy, cause }: PushedPolicy, context: JobContext, ports: Ports): Promise<void> {
  const announcedAt = ports.registry.announcements.since(push.id, push.receivedAt);
  const answeredFor = context.failures === 0 ? jobCauseOf(push) : undefined;
  const request = { policy, hint: hintOf(push), announced: true, announcedAt, ...defined({ answeredFor }) };
  await reconcileAndReport({ ...context, request, cause }, ports);
}

/** The job of a policy whose try for a push has failed: when it knows itself when to try again, otherwise after the first pause of jobs. */
function jobAgain(push: PushJob, policy: ImagePolicy, error: unknown, now: number): PolicyJob {
  const notBefore = error instanceof WaitError ? error.until : new Date(now + jobBackoff.firstMs);
  return policyJob(policy, {
    notBefore: notBefore.toISOString(),
    source: 'Webhook',
    cause: jobCauseOf(push),
    receivedAt: push.receivedAt,
    eventId: push.id,
    receiver: push.receiver,
    hint: hintOf(push),
  });
}

/** A push as the cause of a reconcile. */
export function causeOf({ receivedAt, id, receiver }: PushJob): ReconcileCause {
  return { source: 'Webhook', receivedAt, eventId: id, receiver, isHinted: true };
}

/** The cause of the jobs of a push. */
export function jobCauseOf({ id }: PushJob): string {
  return `push:${id}`;
}

/** The image that a push announces. */
export function hintOf({ tag, digest, repository }: Pick<PushJob, 'tag' | 'digest' | 'repository'>): Hint {
  return { tag, ...defined({ digest }), repository };
}
