/** The processors of the queue `poll`: which repositories are due, and what one of them holds that no webhook announced. */
import { PermanentError } from '../core/errors.ts';
import { isUsable, policyKey, type ImagePolicy } from '../core/image-policy.ts';
import { accessKey } from '../core/image-source.ts';
import type { LookCause } from '../core/next-status.ts';
import { isBestSelection } from '../core/is-selection.ts';
import { outcomeOf, withNotes, withPlace, type Outcome } from '../core/outcome.ts';
import { hasChanges, type Candidate, type UpdatePlan } from '../core/plan-update.ts';
import type { PolicyJob, PollJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';
import type { Chosen } from '../work/choice.ts';
import { chooseBest } from '../work/choose-best.ts';
import { planWith } from '../work/plan-with.ts';
import type { PushPorts } from '../work/process-push.ts';
import { reportFailure, reportOutcome, type ReportPorts } from '../work/report.ts';
import { duePolls, pollGroups } from './due-polls.ts';

export interface PollPorts extends PushPorts {
  readonly policies: () => Iterable<ImagePolicy>;
  readonly addPolls: (polls: readonly PollJob[]) => Promise<void>;
  readonly readLastTick: () => Promise<number | undefined>;
  readonly writeLastTick: (at: number) => Promise<void>;
}

/** How often ticks come; the first one after a wiped Redis looks back this far. */
export const tickMs = 5_000;

/** One tick of the cluster's clock: enqueues the polls whose turn came since the last one. Done twice, it does no harm. */
export async function processTick(ports: PollPorts): Promise<void> {
  const now = ports.now();
  const from = (await ports.readLastTick()) ?? now - tickMs;
  const due = duePolls(pollGroups(ports.policies(), ports.sourceOf), from, now);
  const receivedAt = new Date(now).toISOString();
  await ports.addPolls(due.map((group) => ({ schema: 1, ...group, receivedAt })));
  await ports.writeLastTick(now);
}

/** Lists one repository for all policies that share the poll, and enqueues those that have something to do. */
export async function processPoll(job: PollJob, context: JobContext, ports: PollPorts): Promise<void> {
  const cause: LookCause = { source: 'Poll', receivedAt: job.receivedAt };
  const report: ReportPorts = { ...ports, now: ports.clock };
  const policies = ports.matchPolicies(job.repository).filter((policy) => isPolled(policy, job, ports));
  const found: PolicyJob[] = [];
  const failures: unknown[] = [];
  const ask = askOnce(ports);
  for (const policy of policies) {
    if (!isUsable(policy.spec)) continue;
    try {
      const chosen = await chooseBest(policy, policy.spec, { announced: false, isOnlyFound: true }, ask, context.signal);
      if ('kind' in chosen) continue;
      const plan = planWith(policy, chosen.spec, chosen.candidate, ports);
      if (hasChanges(plan)) found.push(toPolicyJob(policy, chosen.candidate, job));
      else await reportOutcome(policy, endOf(policy, plan, chosen), cause, report, context.signal);
    } catch (error) {
      if (error instanceof PermanentError) {
        await reportOutcome(policy, { kind: 'stalled', reason: error.reason, message: error.message }, cause, report, context.signal);
      } else {
        await reportFailure(policy, error, cause, { ...context, key: policyKey(policy) }, report, context.signal);
        // One policy's trouble (a moving tag that cannot be read) does not hold up the others.
        failures.push(error);
        if (context.signal.aborted) break;
      }
    }
  }
  ports.metrics.polls.inc({ found: String(found.length > 0) });
  await ports.addPolicyJobs(found);
  if (failures.length > 0) throw failures[0];
}

function isPolled(policy: ImagePolicy, { repository, intervalMs }: PollJob, { sourceOf }: PollPorts): boolean {
  const { spec } = policy;
  if (!isUsable(spec) || spec.suspended || spec.pollIntervalMs !== intervalMs) return false;
  return accessKey(sourceOf(policy, spec)) === accessKey(repository);
}

/** The registry's answers, each asked for once, however many policies want it. */
function askOnce(ports: PollPorts): PollPorts {
  let tags: ReturnType<PollPorts['listTags']> | undefined;
  const heads = new Map<string, ReturnType<PollPorts['headManifest']>>();
  return {
    ...ports,
    listTags: (source, signal) => (tags ??= ports.listTags(source, signal)),
    headManifest(source, tag, signal) {
      const head = heads.get(tag) ?? ports.headManifest(source, tag, signal);
      heads.set(tag, head);
      return head;
    },
  };
}

/** Nothing is better than what runs, so nothing waits. */
function endOf({ status }: ImagePolicy, plan: UpdatePlan, { spec, notes }: Chosen): Outcome {
  const outcome = withNotes(outcomeOf(plan, [], isBestSelection(spec, plan)), notes);
  return withPlace(outcome, status.waiting === undefined ? {} : { seen: status.waiting }, false);
}

function toPolicyJob({ namespace, name, uid }: ImagePolicy, { tag, digest }: Candidate, { receivedAt }: PollJob): PolicyJob {
  return {
    schema: 1,
    policy: { namespace, name, uid },
    source: 'Poll',
    cause: `poll:${receivedAt}`,
    receivedAt,
    hint: { tag, ...(digest !== undefined && { digest }) },
  };
}
