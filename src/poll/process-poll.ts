/** The processors of the queue `poll`: which repositories are due, and what one of them holds that no webhook announced. */
import { PermanentError } from '../core/errors.ts';
import { isUsable, policyKey, type ImagePolicy, type PolicySpec } from '../core/image-policy.ts';
import { accessKey, type ImageSource } from '../core/image-source.ts';
import type { LookCause } from '../core/next-status.ts';
import { outcomeOf } from '../core/outcome.ts';
import { hasChanges, type Candidate } from '../core/plan-update.ts';
import type { PolicyJob, PollJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';
import { chooseTag } from '../work/choose-tag.ts';
import { planWith } from '../work/plan-with.ts';
import type { PushPorts } from '../work/process-push.ts';
import { reportFailure, reportOutcome, type ReportPorts } from '../work/report.ts';
import { formatTag } from '../work/resolve-candidate.ts';
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
      const candidate = await findCandidate(policy.spec, job.repository, ask, context.signal);
      const plan = planWith(policy, policy.spec, candidate, ports);
      if (hasChanges(plan)) found.push(toPolicyJob(policy, candidate, job));
      else await reportOutcome(policy, outcomeOf(plan, [], true), cause, report, context.signal);
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
function askOnce(ports: PollPorts): Pick<PollPorts, 'listTags' | 'headManifest'> {
  let tags: ReturnType<PollPorts['listTags']> | undefined;
  const heads = new Map<string, ReturnType<PollPorts['headManifest']>>();
  return {
    listTags: (source, signal) => (tags ??= ports.listTags(source, signal)),
    headManifest(source, tag, signal) {
      const head = heads.get(tag) ?? ports.headManifest(source, tag, signal);
      heads.set(tag, head);
      return head;
    },
  };
}

/** A tag that is pinned by its name needs no digest to be found new; before it is applied, the reconcile asks for it. */
async function findCandidate(
  spec: PolicySpec,
  source: ImageSource,
  ask: ReturnType<typeof askOnce>,
  signal: AbortSignal,
): Promise<Candidate> {
  const tag = await chooseTag(spec.strategy, source, ask.listTags, signal);
  if (spec.pin === 'Tag') return { tag };
  const head = await ask.headManifest(source, tag, signal);
  if (head !== undefined) return { tag, digest: head.digest };
  throw new PermanentError('NoMatchingTag', `the registry holds no ${formatTag(spec.repository, tag)}`);
}

function toPolicyJob({ namespace, name, uid }: ImagePolicy, candidate: Candidate, { receivedAt }: PollJob): PolicyJob {
  return { schema: 1, policy: { namespace, name, uid }, source: 'Poll', cause: `poll:${receivedAt}`, receivedAt, hint: candidate };
}
