/** The processor of the queue `push`: finds the policies that watch the repository of a push and has them reconciled. */
import { WaitError } from '../model/errors.ts';
import { isUsable, policyKey, type ImagePolicy } from '../model/image-policy.ts';
import { accessKey, type ImageSource } from '../model/image-source.ts';
import { notSelected } from '../model/policy-defaults.ts';
import type { ReconcileCause } from '../status/next-status.ts';
import { type Outcome, suspendedOutcome } from '../plan/outcome.ts';
import type { EventLog } from '../queue/event-log.ts';
import type { PolicyJob, PushJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';
import { inSlices } from '../async/in-parallel.ts';
import { rejectTag } from './selection.ts';
import { isKnown } from './examine-tag.ts';
import { announcedAt, reconcileAndReport } from './process-policy.ts';
import type { Ports } from './ports.ts';
import { reportOutcome } from './report.ts';
import { resolveCandidate, toUse, type Hint } from './resolve-tag.ts';

/** The outcome of a push for a policy that need not be reconciled; undefined where it must be. */
interface EarlyResult {
  readonly policy: ImagePolicy;
  readonly outcome: Outcome | undefined;
}

/** In the record of a push. */
const maxUnselected = 100;
const watchPauseMs = { least: 1_000, most: 5_000 } as const;

/** Brings one push to all policies that watch its repository. Where several do, each gets a job of its own, whose result is recorded with the push. */
export async function processPush(push: PushJob, context: JobContext, ports: Ports): Promise<void> {
  const policies = ports.policies.match(push.repository);
  const results: EarlyResult[] = [];
  // There may be a thousand policies, each with patterns of its own.
  await inSlices(policies, context.signal, (policy) => void results.push({ policy, outcome: endsEarly(policy, push) }));
  if (results.every(({ outcome }) => outcome !== undefined) && !ports.policies.isWatching()) {
    // "No policy wants it" is final, so a cache that may be outdated must not decide it.
    const age = ports.cluster.now() - Date.parse(push.receivedAt);
    const pauseMs = Math.min(Math.max(age, watchPauseMs.least), watchPauseMs.most);
    throw new WaitError('Retrying', new Date(ports.cluster.now() + pauseMs), 'the watch of policies is not connected');
  }
  ports.report.observer?.matched?.(policies.map(policyKey));
  const unselected = ports.policies.matchUnselected(push.repository).slice(0, maxUnselected);
  if (unselected.length > 0) await reportUnselected(push, policies, unselected, ports);
  else if (policies.length === 0) {
    const { registry, path } = push.repository;
    ports.report.logger.debug({ event: push.id, registry, repository: path, tag: push.tag, reason: 'NoPolicy' }, 'push not watched');
    await ports.report.eventLog.unwatched(push, new Date(ports.cluster.now()));
  }
  if (policies.length === 0) return ports.report.metrics.unwatched.inc();
  const [first] = policies;
  if (policies.length === 1 && unselected.length === 0 && first !== undefined) return reconcileOne(push, first, context, ports);
  await Promise.all([
    ports.report.eventLog.matched(push, [...policies, ...unselected].map(policyKey)),
    fanOut(push, results, context, ports),
  ]);
}

/** Records for policies of other namespaces that the push is not for them; nothing is written to the policies. */
async function reportUnselected(
  push: PushJob,
  policies: readonly ImagePolicy[],
  unselected: readonly ImagePolicy[],
  ports: Ports,
): Promise<void> {
  const {
    report: { eventLog },
    cluster: { now },
  } = ports;
  if (policies.length === 0) await eventLog.matched(push, unselected.map(policyKey));
  const at = new Date(now());
  const result = {
    kind: 'ignored',
    reason: 'NamespaceNotSelected',
    at: at.toISOString(),
    afterMs: at.getTime() - Date.parse(push.receivedAt),
  } as const;
  await Promise.all(
    unselected.map((policy) => eventLog.recordResult(push.id, policyKey(policy), { ...result, message: notSelected(policy.namespace) })),
  );
}

/** The match is recorded together with its result: this saves a write to Redis, and nothing is written before the image is applied. */
async function reconcileOne(push: PushJob, policy: ImagePolicy, context: JobContext, allPorts: Ports): Promise<void> {
  const { report } = allPorts;
  const recordResult: EventLog['recordResult'] = (id, key, result) => report.eventLog.recordResult(id, key, result, push);
  const ports: Ports = { ...allPorts, report: { ...report, eventLog: { ...report.eventLog, recordResult } } };
  const request = { policy: nameOf(policy), hint: hintOf(push), announced: true, announcedAt: announcedAt(push.receivedAt, ports) };
  await reconcileAndReport({ ...context, request, cause: causeOf(push) }, ports);
}

async function fanOut(push: PushJob, results: readonly EarlyResult[], context: JobContext, ports: Ports): Promise<void> {
  const interested = results.flatMap(({ policy, outcome }) => (outcome === undefined ? [policy] : []));
  const jobs = await Promise.all(
    bySource(push, interested, ports).map(async ({ source, policies }) => {
      await resolveOnce(push, { source, policies }, context, ports);
      return policies.map((policy) => toPolicyJob(push, policy));
    }),
  );
  if (interested.length > 0) await ports.queues.addPolicyJobs(jobs.flat());
  // Policies that do not want the push must not delay those that do.
  await Promise.all(
    results.flatMap(({ policy, outcome }) =>
      outcome === undefined ? [] : [reportOutcome({ policy, cause: causeOf(push), signal: context.signal }, outcome, ports)],
    ),
  );
}

/** The outcome of a push for a policy that need not be reconciled; undefined for one that must be. */
function endsEarly(policy: ImagePolicy, { tag }: PushJob): Outcome | undefined {
  return suspendedOutcome(policy) ?? (isUsable(policy.spec) ? rejectTag(policy.spec, tag) : undefined);
}

interface SourceGroup {
  readonly source: ImageSource;
  readonly policies: ImagePolicy[];
}

/** Groups policies that may share an answer of the registry. */
function bySource(push: PushJob, policies: readonly ImagePolicy[], { registry }: Ports): SourceGroup[] {
  const groups = new Map<string, SourceGroup>();
  for (const policy of policies) {
    const source: ImageSource = isUsable(policy.spec) ? registry.sourceOf(policy, policy.spec) : push.repository;
    const group = groups.get(accessKey(source)) ?? { source, policies: [] };
    group.policies.push(policy);
    groups.set(accessKey(source), group);
  }
  return [...groups.values()];
}

/**
 * Asks the registry once for all policies that this process handles. When that fails or finds nothing, each policy asks and reports for itself. Asking here
 * means waiting for the registry once instead of in each job.
 */
async function resolveOnce(push: PushJob, { source, policies }: SourceGroup, { signal }: JobContext, ports: Ports): Promise<void> {
  const { tag } = push;
  const isNewTo = (policy: ImagePolicy, digest: string) =>
    isUsable(policy.spec) && !isKnown({ tag, digest }, policy, policy.spec, ports.cluster);
  try {
    const askedAt = ports.cluster.now();
    const patience = {
      announced: true,
      announcedAt: announcedAt(push.receivedAt, ports),
      signal,
      now: ports.cluster.now,
      // A policy that knows the digest already asks for itself and delays no other.
      mayBePushed: async (digest: string) => policies.some((policy) => isNewTo(policy, digest)),
    };
    const heard = { ...source, heardAt: Date.parse(push.receivedAt) };
    const found = await resolveCandidate(heard, hintOf(push), toUse(ports.registry.headManifest), patience);
    if (found !== undefined) ports.registry.sharedAnswers.remember(jobCauseOf(push), source, found, askedAt);
  } catch (error) {
    if (error instanceof WaitError && error.reason === 'NotShownYet') throw error;
    ports.report.logger.debug({ err: error, event: push.id }, 'shared manifest request failed');
  }
}

function toPolicyJob(push: PushJob, policy: ImagePolicy): PolicyJob {
  return {
    schema: 1,
    policy: nameOf(policy),
    source: 'Webhook',
    cause: jobCauseOf(push),
    receivedAt: push.receivedAt,
    eventId: push.id,
    receiver: push.receiver,
    hint: hintOf(push),
  };
}

function jobCauseOf({ id }: PushJob): string {
  return `push:${id}`;
}

function hintOf(push: PushJob): Hint {
  return { tag: push.tag, ...(push.digest !== undefined && { digest: push.digest }) };
}

function causeOf(push: PushJob): ReconcileCause {
  return { source: 'Webhook', receivedAt: push.receivedAt, eventId: push.id, receiver: push.receiver, isHinted: true };
}

function nameOf({ namespace, name, uid }: ImagePolicy): PolicyJob['policy'] {
  return { namespace, name, uid };
}
