/** Reports how the reconcile of a BaseImagePolicy ended: its status, the record of the push that caused it, Events and the log. */
import { baseKey } from '../../core/model/base-policy.ts';
import { baseKind } from '../../service/resources/group.ts';
import { apiVersion } from '../../service/resources/v1.ts';
import type { BaseImagePolicy } from '../../core/model/base-policy.ts';
import type { BaseStatus } from '../../core/model/base-status.ts';
import { describeError, PermanentError, WaitError } from '../../core/model/errors.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { isReason, type Reason } from '../../core/model/reasons.ts';
import { endedApproval } from '../../core/status/ended-approvals.ts';
import type { PolicyResult } from '../../service/queue/event-log.ts';
import type { BaseJob } from '../../service/queue/jobs.ts';
import type { JobContext } from '../../service/queue/worker.ts';
import { concealInError } from '../../service/reconcile/conceal-push.ts';
import type { Hint } from '../../service/reconcile/resolve-tag.ts';
import { jobFor } from './enqueue-bases.ts';
import { withProblem } from './next-base-status.ts';
import type { BasePorts } from './ports.ts';

export type ReportBasePorts = Pick<BasePorts, 'basePolicies' | 'report' | 'cluster'> & {
  /** Whether the status is written only while the policy is the one that the report was made from. */
  readonly isExclusive?: boolean;
};

/** A policy, and the job that reconciles it. */
export interface BaseSubject {
  readonly policy: BaseImagePolicy;
  readonly job: BaseJob;
  readonly signal: AbortSignal;
}

/** A failure is written to the status from this try on, because the next try may succeed. An empty status is written at the first failure. */
const failuresBeforeStatus = 2;

/** Writes the next status, and reports what it changes. */
export async function reportStatus(
  { policy, job, signal }: BaseSubject,
  kind: PolicyResult['kind'],
  update: (status: BaseStatus) => BaseStatus,
  ports: ReportBasePorts,
): Promise<void> {
  let [before, after] = [policy.status, policy.status];
  await ports.basePolicies.writeStatus(
    policy,
    (status) => {
      before = status;
      after = update(status);
      return after;
    },
    { signal, eventId: job.eventId, isExclusive: ports.isExclusive ?? false },
  );
  const ready = readyOf(after);
  if (ready === undefined) return;
  const { reason, message } = ready;
  const { source, eventId: event } = job;
  ports.report.logger.debug({ policy: policyKey(policy), source, event, reason, ...after.images }, 'base policy reconciled');
  const selected = after.latest && { tag: after.latest.tag, digest: after.latest.digest };
  await recordResult(job, { kind, reason, message, ...selected, ...(kind === 'waiting' && { stage: 'guard' }) }, ports);
  recordEvents(policy, before, after, ports);
}

/** Reports a failure, and throws it again if it is to be retried. `concealed` lists texts that its message must not contain. */
export async function reportFailure(
  { policy, job, signal }: BaseSubject,
  error: unknown,
  { failures, isOurs, concealed }: Pick<JobContext, 'failures' | 'isOurs'> & { readonly concealed?: Hint | undefined },
  ports: ReportBasePorts & Pick<BasePorts, 'queues'>,
): Promise<void> {
  const isPermanent = error instanceof PermanentError;
  const reason = isPermanent || error instanceof WaitError ? error.reason : 'Retrying';
  const message = describeError(concealed === undefined ? error : concealInError(error, concealed));
  ports.report.logger.warn({ policy: policyKey(policy), reason, why: message, failures }, 'reconcile of a base policy failed');
  const withFailure = (status: BaseStatus) =>
    withProblem({ ...policy, status }, { reason, message, isRetried: !isPermanent }, new Date(ports.cluster.now()));
  if (isPermanent) return reportStatus({ policy, job, signal }, 'stalled', withFailure, ports);
  const isNew = policy.status.conditions === undefined;
  if (failures >= failuresBeforeStatus || isNew) await reportStatus({ policy, job, signal }, 'retrying', withFailure, ports);
  else await recordResult(job, { kind: 'retrying', reason, message }, ports);
  // Another worker may have the job by now and may have reported its end. Nothing would repeat this try.
  const now = ports.cluster.now();
  if (!(await isOurs())) await ports.queues.addBaseJobs([jobFor(policy, 'TargetChange', `outdated:${now}`, now)]);
  throw error;
}

/** Reports a push for a policy that was deleted after the job was enqueued. */
export async function reportGone(job: BaseJob, ports: ReportBasePorts): Promise<void> {
  ports.report.logger.debug({ policy: policyKey(job.policy) }, 'base policy is gone');
  await recordResult(job, { kind: 'ignored', reason: 'PolicyGone', message: `${policyKey(job.policy)} was deleted` }, ports);
}

async function recordResult(
  { policy, eventId, receivedAt }: BaseJob,
  result: Omit<PolicyResult, 'at' | 'afterMs'>,
  { report, cluster }: ReportBasePorts,
): Promise<void> {
  if (eventId === undefined) return;
  const at = new Date(cluster.now());
  await report.eventLog.recordResult(eventId, baseKey(policy), {
    ...result,
    at: at.toISOString(),
    afterMs: at.getTime() - Date.parse(receivedAt),
  });
}

/** Records an Event for a new base, one when the policy begins to need attention, and one when a base ends to wait without an approval. */
function recordEvents({ namespace, name, uid }: BaseImagePolicy, before: BaseStatus, after: BaseStatus, { report }: ReportBasePorts): void {
  const ready = readyOf(after);
  if (ready === undefined) return;
  const { reason, message } = ready;
  const regarding = { apiVersion, kind: baseKind, namespace, name, uid };
  const ended = endedApproval(before, after);
  if (ended !== undefined)
    report.recordEvent({ regarding, type: 'Normal', reason: ended.reason, action: 'Approve', message: ended.message });
  const needsSomebody = ready.status === 'False' && reason !== 'Progressing' && reason !== 'Window';
  if (needsSomebody && readyOf(before)?.reason !== reason)
    report.recordEvent({ regarding, type: 'Warning', reason, action: 'Reconcile', message });
  const { latest } = after;
  const isNewBase = latest !== undefined && before.history?.[0]?.digest !== latest.digest && after.history?.[0]?.digest === latest.digest;
  if (isNewBase && !needsSomebody)
    report.recordEvent({
      regarding,
      type: 'Normal',
      reason,
      action: 'Select',
      message: `${latest.tag}@${latest.digest} is the base now: ${message}`,
    });
}

interface Ready {
  readonly status: string;
  readonly reason: Reason;
  readonly message: string;
}

/** The Ready condition. Its reason may be unknown, because others may be permitted to write a status. */
function readyOf({ conditions = [] }: BaseStatus): Ready | undefined {
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready && isReason(ready.reason) ? { status: ready.status, reason: ready.reason, message: ready.message } : undefined;
}
