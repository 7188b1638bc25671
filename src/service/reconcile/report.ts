/** Reports how a reconcile of a policy ended: status, Kubernetes Events, audit record, metrics, log. */
import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../core/model/defined.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import { policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { listFew } from '../../core/model/text.ts';
import { isOlderThanSelected } from '../../core/status/is-older.ts';
import { nextStatus, type ReconcileCause } from '../../core/status/next-status.ts';
import { describeChange, type Outcome } from '../../core/plan/outcome.ts';
import type { PolicyStatus } from '../../core/model/policy-status.ts';
import { isOutdated } from '../../core/status/is-outdated.ts';
import { completingJob } from './enqueue/completing-job.ts';
import type { Report } from './ports.ts';
import { recordResult, resultOf, withFound } from './record-result.ts';
import { count, reportChanges, type ReportPorts, type Subject } from './report-changes.ts';
import { toObject, reportBlocked, reportEndedApproval } from './report-events.ts';
import { recordForgotten } from './record-changes.ts';
import { broughtBy, recordOlder } from './record-older.ts';
import { areWatched, reportEndedWaves, reportNotWatched } from './rollouts/report-rollouts.ts';

/** Reports an outcome. Throws when the status or the audit record could not be written: the job is then retried. */
export async function reportOutcome(
  { policy, cause, signal, verifiedAt, otherDigest }: Subject,
  outcome: Outcome,
  ports: ReportPorts,
): Promise<void> {
  const now = new Date(ports.cluster.now());
  count(policyKey(policy), outcome, cause, ports);
  reportChanges(policy, outcome, cause, ports);
  const view = asSeenBy(policy, ports.cluster);
  let replaced = policy.status;
  let written: PolicyStatus | undefined;
  let isLate = false;
  const isIgnored = outcome.kind === 'ignored' && outcome.changes === undefined;
  const writeStatus = async () => {
    // An ignored push is not written to the status, unless an earlier attempt had changed something.
    if (isIgnored) return;
    await ports.policies.writeStatus(
      policy,
      (status) => {
        replaced = status;
        isLate = isOutdated({ status }, outcome, view);
        written = nextStatus({ ...policy, status }, outcome, { cause, now }, view);
        return written;
      },
      signal,
      cause.eventId,
    );
  };
  const verifiedMs = verifiedAt === undefined || outcome.kind !== 'updated' ? undefined : verifiedAt - Date.parse(cause.receivedAt);
  const isUnwatched = !areWatched(policy, outcome, ports);
  const result = {
    ...resultOf(outcome),
    ...(isUnwatched && { isUnwatched }),
    ...defined({ verifiedMs, otherDigest, broughtBy: broughtBy(policy, outcome, cause) }),
  };
  const complete = withFound(result, outcome.changes, { policy, cause, isOver: outcome.retryAt === undefined }, view);
  // The next push must not wait behind the report of this one.
  if (!isIgnored) await ports.report.untilPatched?.();
  await Promise.all([writeStatus(), recordResult(policyKey(policy), complete, { cause, now }, ports)]);
  await recordForgotten({ policy, before: replaced }, { ...outcome, written, cause }, ports);
  await recordOlder({ policy, before: replaced }, { outcome, written, cause }, ports);
  if (written !== undefined) await reportEndedWaves(policy, replaced, written, ports);
  // The policy needs another reconcile if the report is incomplete: it is late, older than the selection, or about another image than the status.
  if (isLate || isBehindSelected({ ...policy, status: replaced }, outcome, cause) || showsOthers(replaced, written, outcome))
    await ports.queues.addPolicyJobs([completingJob(policy, now)]);
  // A concurrent reconcile may have reported the outcome already.
  const before = { ...policy, status: replaced };
  reportUpdate(before, written, outcome, ports.report);
  reportEndedApproval(before, written, ports.report);
  if (outcome.kind === 'stalled') reportStalled(before, outcome, ports);
  else if (outcome.kind === 'waiting') reportWaiting(before, outcome, ports);
  else reportBlocked(before, outcome, ports.report);
  reportNotWatched(policy, outcome, ports);
}

/** Whether an image was applied that is older than the selected one, which may have run before and been replaced by another policy or by a person. */
function isBehindSelected(policy: ImagePolicy, { changes, tag }: Outcome, { isHinted }: ReconcileCause): boolean {
  return isHinted === true && changes !== undefined && tag !== undefined && isOlderThanSelected(policy, tag);
}

/** Whether the status shows an image that somebody else has set since, and the outcome is about another image, so it does not evaluate the selected one. */
function showsOthers(before: PolicyStatus, after: PolicyStatus | undefined, { selection, changes, seen }: Outcome): boolean {
  if (selection !== undefined || changes !== undefined || seen === undefined || before.latest === undefined || after === undefined)
    return false;
  return !isDeepStrictEqual(imagesIn(before), imagesIn(after));
}

function imagesIn({ targets = [] }: PolicyStatus): unknown {
  return targets.map(({ uid, container, image }) => [uid, container, image]);
}

/** Reports the outcome of a job whose policy was deleted before the job ran. */
export async function reportGone(key: string, outcome: Outcome, cause: ReconcileCause, ports: ReportPorts): Promise<void> {
  count(key, outcome, cause, ports);
  await recordResult(key, resultOf(outcome), { cause }, ports);
}

/** Records an Event of the policy if an update changes its condition. Each single change has an Event of its workload, and an entry in the history. */
function reportUpdate(policy: ImagePolicy, written: PolicyStatus | undefined, { changes = [] }: Outcome, { recordEvent }: Report): void {
  if (changes.length === 0 || reasonOf(policy.status) === reasonOf(written ?? policy.status)) return;
  const message = listFew(changes, describeChange);
  recordEvent({ regarding: toObject(policy), type: 'Normal', reason: 'Updated', action: 'UpdateImage', message });
}

function reasonOf({ conditions = [] }: PolicyStatus): string | undefined {
  return conditions.find(({ type }) => type === 'Ready')?.reason;
}

/** Records an Event when a policy becomes Stalled or its reason changes, but not if it was Stalled for the same reason before. */
function reportStalled(policy: ImagePolicy, outcome: Outcome, ports: ReportPorts): void {
  const before = policy.status.conditions?.find((condition) => condition.type === 'Stalled');
  if (before?.status === 'True' && before.reason === outcome.reason && before.message === outcome.message) return;
  ports.report.logger.info({ policy: policyKey(policy), reason: outcome.reason, why: outcome.message }, 'policy stalled');
  const { reason, message } = outcome;
  ports.report.recordEvent({ regarding: toObject(policy), type: 'Warning', reason, action: 'Reconcile', message });
}

/** Records an Event when a wait begins, but not while it lasts. */
function reportWaiting(policy: ImagePolicy, { reason, message, pending }: Outcome, ports: ReportPorts): void {
  if (pending?.next?.until === policy.status.waiting?.until) return;
  ports.report.logger.info({ policy: policyKey(policy), reason, why: message }, 'policy waiting');
  ports.report.recordEvent({ regarding: toObject(policy), type: 'Normal', reason, action: 'Wait', message });
}
