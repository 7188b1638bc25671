/**
 * Asks one check once, and records the answer in the status of the policy. The mutex of the policy is not held, so a slow endpoint delays nothing else. Whoever
 * acts on the verdict reads it from the status: a verdict that is not written does not exist, and one that is written is never asked for again.
 */
import { defined } from '../../../core/model/defined.ts';
import { isUsable, policyKey, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { formatRepository } from '../../../core/model/image-reference.ts';
import type { CheckRecord } from '../../../core/model/check-record.ts';
import type { PolicyStatus } from '../../../core/model/policy-status.ts';
import { isOfImage } from '../../../core/model/rollout-check.ts';
import { snapshotOf } from '../../../core/model/target-snapshot.ts';
import { formatWorkload } from '../../../core/model/workload.ts';
import { asSeenBy } from '../../../core/plan/consent.ts';
import { questionsAt, withAnswer, withJob } from '../../../core/plan/record-answer.ts';
import { isUnderWay } from '../../../core/rollout/evaluate-change.ts';
import type { PolicyJob } from '../../queue/jobs.ts';
import { findSame } from '../attempt.ts';
import type { Ports } from '../ports.ts';
import { checkJobs, runningChecks, type RunningCheck } from './check-jobs.ts';
import type { AskCheck, CheckedChange } from './check-request.ts';

export interface AskPorts extends Pick<Ports, 'policies' | 'cluster' | 'queues' | 'report'> {
  readonly askCheck: AskCheck;
}

/** How often a policy may change between two looks at it before the job is left to the next try. */
const maxLooks = 5;

/** Asks the check of a job, if it has no verdict yet, and enqueues its next question. */
export async function askOnce(job: PolicyJob, ports: AskPorts, signal: AbortSignal): Promise<void> {
  const { cluster, policies, queues, report } = ports;
  const found = await findConfirmed(job, ports, signal);
  if (found === undefined) return;
  const { policy, check, record } = found;
  const { due } = questionsAt(check, record, new Date(cluster.now()));
  if (due.number > (record.answered ?? -1)) {
    const asked = await ports.askCheck({
      policy,
      check,
      record,
      image: imageOf(policy, record),
      changes: changesOf(policy, record),
      signal,
    });
    signal.throwIfAborted();
    const now = new Date(cluster.now());
    const isOn = check.phase === 'during' && isUnderWay(policy, record, snapshotOf(policy, asSeenBy(policy, cluster), now));
    const answered = { check, question: due.number, answer: asked, now, isUnderWay: isOn };
    let verdict: CheckRecord | undefined;
    const update = (status: PolicyStatus) => {
      const told = asked.job === undefined ? status : withJob(status, record.id, asked.job);
      const next = withAnswer(told, record.id, answered);
      // One that somebody else has written is theirs to tell.
      verdict = next === status ? undefined : next.checks?.find(({ id, state }) => id === record.id && state !== 'Running');
      return next === status ? undefined : next;
    };
    await policies.writeStatus(policy, update, signal);
    if (verdict !== undefined)
      report.logger.info(
        { policy: policyKey(policy), check: check.name, result: verdict.state, why: verdict.message },
        'check has a verdict',
      );
  }
  const current = findSame(job, policies) ?? policy;
  await queues.addPolicyJobs(
    checkJobs(current, new Date(cluster.now())).filter((one) => one.check === job.check && one.cause !== job.cause),
  );
}

/** The check of a job, confirmed: a watch that is silent does not show that another replica has written the verdict. */
async function findConfirmed(job: PolicyJob, ports: AskPorts, signal: AbortSignal): ReturnType<typeof findRunning> {
  for (let looks = 0; looks < maxLooks; looks++) {
    const found = await findRunning(job, ports, signal);
    if (found === undefined || (await ports.policies.confirm(found.policy, signal)) !== undefined) return found;
  }
  throw new Error(`ImagePolicy ${job.policy.namespace}/${job.policy.name} changes all the time`);
}

/** The check of a job while it has no verdict. The replica that made the job may have seen a newer status than our cache. */
async function findRunning(
  job: PolicyJob,
  { policies, cluster }: AskPorts,
  signal: AbortSignal,
): Promise<({ readonly policy: ImagePolicy } & RunningCheck) | undefined> {
  const runningOf = (policy: ImagePolicy | undefined) => {
    const found = policy && runningChecks(policy, new Date(cluster.now())).find(({ record }) => record.id === job.check);
    return policy && found && { policy, ...found };
  };
  const cached = findSame(job, policies);
  if (cached?.status.checks?.some(({ id }) => id === job.check)) return runningOf(cached);
  const read = await policies.read(job.policy.namespace, job.policy.name, signal);
  return read?.uid === job.policy.uid ? runningOf(read) : undefined;
}

function imageOf({ spec }: ImagePolicy, { tag, digest }: CheckRecord): string {
  const repository = isUsable(spec) ? formatRepository(spec.repository) : '';
  return `${repository}:${tag}${digest === undefined ? '' : `@${digest}`}`;
}

/** The containers that the image is for: what they run before the change, and afterwards what they ran. */
function changesOf({ status: { history = [], targets = [] } }: ImagePolicy, record: CheckRecord): CheckedChange[] {
  const made = history.filter((entry) => entry.trigger !== 'Rollback' && isOfImage(record, entry));
  if (record.phase !== 'before')
    return made.map((entry) => ({
      workload: formatWorkload(entry),
      container: entry.container,
      ...defined({ from: entry.from }),
    }));
  return targets.flatMap((state) =>
    state.container === undefined
      ? []
      : [{ workload: formatWorkload(state), container: state.container, ...defined({ from: state.image }) }],
  );
}
