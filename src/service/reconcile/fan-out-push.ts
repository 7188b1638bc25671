/** A push that several policies watch: the registry is asked once for each source, and each policy that wants the push gets a job. */
import { defined } from '../../core/model/defined.ts';
import { WaitError } from '../../core/model/errors.ts';
import { isUsable, type ImagePolicy } from '../../core/model/image-policy.ts';
import { accessKey, type ImageSource } from '../../core/model/image-source.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import { policyJob, type PolicyJob, type PushJob } from '../queue/jobs.ts';
import type { ReconcileCause } from '../../core/status/next-status.ts';
import { runningNow } from './attempt.ts';
import { isKnown } from './examine-tag.ts';
import type { Ports } from './ports.ts';
import { reportOutcome } from './report.ts';
import { resolveCandidate, type Hint } from './resolve-tag.ts';

/** A policy that watches the repository of a push, and its outcome if it need not be reconciled. */
export interface Match {
  readonly policy: ImagePolicy;
  readonly outcome: Outcome | undefined;
}

/** Enqueues the policies that want a push, and reports the outcome of the others. */
export async function fanOutPush(push: PushJob, matches: readonly Match[], ports: Ports, signal: AbortSignal): Promise<void> {
  const interested = matches.flatMap(({ policy, outcome }) => (outcome === undefined ? [policy] : []));
  const jobs = await Promise.all(
    bySource(push, interested, ports).map(async (group) => {
      await resolveOnce(push, group, ports, signal);
      return group.policies.map((policy) => toPolicyJob(push, policy));
    }),
  );
  if (interested.length > 0) await ports.queues.addPolicyJobs(jobs.flat());
  // Outcomes of policies that do not want the push are reported last, so that they do not delay those that do.
  const cause = causeOf(push);
  await Promise.all(
    matches.flatMap(({ policy, outcome }) => (outcome === undefined ? [] : [reportOutcome({ policy, cause, signal }, outcome, ports)])),
  );
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

function toPolicyJob(push: PushJob, policy: ImagePolicy): PolicyJob {
  return policyJob(policy, {
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
export function jobCauseOf({ id }: Pick<PushJob, 'id'>): string {
  return `push:${id}`;
}

/** The image that a push announces. */
export function hintOf({ tag, digest, repository }: Pick<PushJob, 'tag' | 'digest' | 'repository'>): Hint {
  return { tag, ...defined({ digest }), repository };
}
