/** The processor of the queue `poll`: finds images that no webhook announced. */
import { defined } from '../../core/model/defined.ts';
import { PermanentError } from '../../core/model/errors.ts';
import { goneContainers } from '../../core/plan/running-images.ts';
import { isUsable, policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { accessKey } from '../../core/model/image-source.ts';
import { isBestSelection } from '../../core/plan/is-selection.ts';
import { outcomeOf, withNotes, withPending } from '../../core/plan/outcome.ts';
import { hasChanges } from '../../core/plan/plan-update.ts';
import { policyJob, type PolicyJob, type PollJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';
import { runningNow } from '../reconcile/attempt.ts';
import type { JobQueue, Ports } from '../reconcile/ports.ts';
import { reportGoneTags } from '../reconcile/report-events.ts';
import { reportFailure } from '../reconcile/report-failure.ts';
import { reportOutcome } from '../reconcile/report.ts';
import type { ReportPorts, Subject } from '../reconcile/report-changes.ts';
import { createSharedRequests, findsOf, evaluatePolicies, type Decision, type Find, type PollEvaluation } from './evaluate-policies.ts';
import type { PollGate } from './poll-gate.ts';
import { reportUnannounced, type UnannouncedPorts } from './report-unannounced.ts';
import type { PollQueue } from './tick.ts';

export interface PollPorts extends Ports, UnannouncedPorts {
  readonly queues: JobQueue & PollQueue;
  readonly poll: UnannouncedPorts['poll'] & { readonly gate: PollGate };
}

/** Lists one repository for all policies that share the poll, and enqueues those that need a reconcile. */
export async function processPoll(job: PollJob, context: JobContext, ports: PollPorts): Promise<void> {
  const policies = ports.policies.match(job.repository).filter((policy) => isPolled(policy, job, ports));
  if (policies.length === 0) return;
  // Both are read before the first request, because the oldest of the registry's answers may decide.
  const asked = { at: ports.cluster.now(), running: await runningNow(policies, ports.cluster, context.signal) };
  const { evaluations, finds } = await askRegistry(policies, job, context, ports);
  ports.report.metrics.polls.inc({ found: String(finds.length > 0) });
  for (const { policy, candidate, resolved } of finds) {
    if (resolved === undefined || !isUsable(policy.spec)) continue;
    const question = { cause: jobCauseOf(job, candidate), source: ports.registry.sourceOf(policy, policy.spec), tag: resolved.tag };
    ports.registry.sharedAnswers.remember(question, { answer: resolved, ...asked });
  }
  await ports.queues.addPolicyJobs(finds.map((find) => toPolicyJob(find, job)));
  const failures: unknown[] = [];
  for (const evaluation of evaluations) {
    if ('plan' in evaluation && hasChanges(evaluation.plan)) continue;
    const failure = await report(evaluation, job, context, ports);
    if (failure !== undefined) failures.push(failure);
  }
  await reportUnannounced(finds, job.repository, ports);
  if (failures.length > 0) throw failures[0];
}

/** Evaluates the policies, holding a slot of the registry only for the duration of its requests. */
async function askRegistry(
  policies: readonly ImagePolicy[],
  { repository, intervalMs }: PollJob,
  { signal }: JobContext,
  ports: PollPorts,
): Promise<{ evaluations: readonly PollEvaluation[]; finds: readonly Find[] }> {
  const visit = ports.poll.gate.enter(repository.registry, intervalMs);
  const ask = createSharedRequests(ports.registry, repository);
  try {
    const evaluations = await evaluatePolicies(policies, ask, ports, signal);
    return { evaluations, finds: await findsOf(evaluations, ask, ports.registry, signal) };
  } finally {
    visit.leave(ask.failure());
  }
}

/** Reports the result for a policy that needs no change; returns the error if the poll is to be retried. */
async function report(evaluation: PollEvaluation, job: PollJob, context: JobContext, ports: PollPorts): Promise<unknown> {
  const { policy } = evaluation;
  const subject: Subject = { policy, cause: { source: 'Poll', receivedAt: job.receivedAt }, signal: context.signal };
  try {
    if ('error' in evaluation) throw evaluation.error;
    await reportUnchanged(subject, evaluation, ports);
    return undefined;
  } catch (error) {
    if (error instanceof PermanentError) {
      await reportOutcome(subject, { kind: 'stalled', reason: error.reason, message: error.message }, ports);
      return undefined;
    }
    await reportFailure({ ...context, ...subject, key: policyKey(policy) }, error, ports);
    return error;
  }
}

async function reportUnchanged(subject: Subject, { plan, basis, selection }: Decision, ports: ReportPorts): Promise<void> {
  const { spec, notes, sets } = selection;
  const { policy } = subject;
  const gone = goneContainers(plan);
  const unchanged = outcomeOf(plan, [], { uid: policy.uid, isSelection: isBestSelection(spec, plan) });
  const outcome = withNotes({ ...unchanged, gone, basis, assessments: [], ...defined({ sets }) }, notes);
  const { waiting } = policy.status;
  // If nothing is better than what runs, there is no pending candidate.
  await reportOutcome(subject, withPending(outcome, waiting === undefined ? {} : { seen: waiting }, false), ports);
  reportGoneTags(policy, gone, ports.report);
}

function isPolled(policy: ImagePolicy, { repository, intervalMs }: PollJob, { registry }: PollPorts): boolean {
  const { spec } = policy;
  if (!isUsable(spec) || spec.suspended || spec.pollIntervalMs !== intervalMs) return false;
  return accessKey(registry.sourceOf(policy, spec)) === accessKey(repository);
}

function toPolicyJob({ policy, candidate }: Find, job: PollJob): PolicyJob {
  const { tag, digest } = candidate;
  const hint = { tag, ...defined({ digest }) };
  return policyJob(policy, { source: 'Poll', cause: jobCauseOf(job, candidate), receivedAt: job.receivedAt, hint });
}

/** The cause of a policy's job. It contains the image, because a retried poll may find another one, which needs a job of its own. */
function jobCauseOf({ receivedAt }: PollJob, { tag, digest = '' }: Find['candidate']): string {
  return `poll:${receivedAt}:${tag}@${digest}`;
}
