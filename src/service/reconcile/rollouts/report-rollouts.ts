/** Reports rollouts: Kubernetes Events on policy and workload, audit record, metrics, log. The status was written before. */
import { whyNoRollback, type RefusedRollback, type Rollback } from '../../../core/rollout/automatic-rollback.ts';
import { isRecorded } from '../../../core/rollout/current-rollouts.ts';
import { isUsable, policyKey, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { evaluateRollout } from '../../../core/rollout/evaluate-rollout.ts';
import { listFew, toSeconds } from '../../../core/model/text.ts';
import type { Outcome } from '../../../core/plan/outcome.ts';
import { isTriggered, type HistoryEntry, type PolicyStatus } from '../../../core/model/policy-status.ts';
import { isSameContainer } from '../../../core/plan/past.ts';
import { findRejection } from '../../../core/plan/rejections.ts';
import { nextTry, oneMoreFailure, retryPausesMs } from '../../../core/plan/retries.ts';
import type { Reason } from '../../../core/model/reasons.ts';
import { isSameEntry, type Finding, type Refusal } from '../../../core/status/record-rollouts.ts';
import { formatWorkload, workloadKey, type Workload, type WorkloadRef } from '../../../core/model/workload.ts';
import type { PolicyResult } from '../../queue/event-log.ts';
import { toObject } from '../report-events.ts';
import { eventOf, recordChanges } from '../record-changes.ts';
import type { ReportPorts } from '../report-changes.ts';

/** One write to the status, and the findings that it records. */
export interface StatusChange {
  readonly policy: ImagePolicy;
  readonly before: PolicyStatus;
  readonly after: PolicyStatus;
  readonly findings: readonly Finding[];
}

/** Reports the entries that have a new result. */
export async function reportFindings(change: StatusChange, ports: ReportPorts): Promise<void> {
  const { policy, before, after, findings } = change;
  for (const { rollout, evaluation } of findings) {
    const completed = (after.history ?? []).filter(
      (entry) => rollout.entries.some((one) => isSameEntry(one, entry)) && resultOf(before, entry) !== entry.result,
    );
    const [entry] = completed;
    if (entry === undefined) continue;
    const { workload } = rollout;
    const images = completed.map(({ to }) => to).join(' and ');
    const isDone = entry.result === 'RolledOut';
    const reason = isDone ? 'RolledOut' : 'RolloutFailed';
    const message = isDone ? `${images} is out: ${evaluation.message}` : `the rollout of ${images} failed: ${evaluation.message}`;
    record(policy, workload, { type: isDone ? 'Normal' : 'Warning', reason, message }, ports);
    if (isDone) observeAvailable(policy, before, entry, ports);
    // With many workloads, the push is reported as rolled out when all of them are, and not after a failure.
    const isLast = (after.rollouts?.progressing ?? 0) === 0 && !hasFailed(after, entry);
    if (!isDone) await recordResult({ policy, before }, completed, { kind: 'stalled', reason, message }, ports);
    else if (isLast) await recordRolledOut(change, message, completed, ports);
    const impossible = isDone ? undefined : completed.map(whyNoRollback).find((why) => why !== undefined);
    if (impossible !== undefined && wantsRollback(policy))
      reportNoRollback({ policy, workload, entries: completed }, { reason: 'RollbackFailed', why: impossible }, ports);
  }
}

/** Whether the image of a change is rejected, or has failed on a workload where no later try of it has succeeded. */
function hasFailed(status: PolicyStatus, { tag, digest }: HistoryEntry): boolean {
  if (findRejection(status, digest) !== undefined) return true;
  const ofImage = (status.history ?? []).filter((one) => one.trigger !== 'Rollback' && one.tag === tag && one.digest === digest);
  const isNewest = (entry: HistoryEntry) => ofImage.find((one) => isSameContainer(one, entry)) === entry;
  return ofImage.some((entry) => (entry.result === 'Failed' || entry.result === 'RolledBack') && isNewest(entry));
}

/** Records that a push is rolled out: with the message of its one workload, or with all its workloads. */
async function recordRolledOut(
  { policy, before, after }: StatusChange,
  message: string,
  completed: readonly HistoryEntry[],
  ports: ReportPorts,
): Promise<void> {
  const event = completed.map((entry) => eventOf(before, entry, ports)).find((id) => id !== undefined);
  const entries = (after.history ?? []).filter((entry) => entry.result === 'RolledOut' && eventOf(before, entry, ports) === event);
  const workloads = [...new Set(entries.map(formatWorkload))];
  const result = { kind: 'updated', reason: 'RolledOut' } as const;
  if (workloads.length <= 1) return recordResult({ policy, before }, completed, { ...result, message }, ports);
  const images = [...new Set(entries.map(({ to }) => to))].join(' and ');
  const all = `${images} is out on ${workloads.length} workloads: ${listFew(workloads, (workload) => workload)}`;
  await recordResult({ policy, before }, entries, { ...result, message: all }, ports);
}

/** Once all rollouts are over, reports the successful ones that the history does not hold. */
export async function reportCompleted({ policy, before, after, findings }: StatusChange, ports: ReportPorts): Promise<void> {
  const { settledAt = '' } = after.rollouts ?? {};
  const known = before.rollouts?.settledAt;
  if (settledAt === '' || settledAt === known) return;
  const isNew = ({ at }: HistoryEntry) => known === undefined || Date.parse(at) > Date.parse(known);
  const out = findings.flatMap(({ rollout, evaluation }) => {
    const entries = rollout.entries.filter((entry) => !isRecorded(before, entry) && isNew(entry));
    return evaluation.kind === 'done' && entries.length > 0 ? [{ workload: rollout.workload, entries }] : [];
  });
  for (const { workload, entries } of out) {
    ports.report.metrics.rollouts.inc({ kind: workload.kind, result: 'RolledOut' });
    const result = { reason: 'RolledOut', message: `${entries.map(({ to }) => to).join(' and ')} is out` } as const;
    ports.report.observer?.rolledOut?.(policyKey(policy), workload, result);
  }
  if (out.length === 0) return;
  const images = new Set(out.flatMap(({ entries }) => entries.map(({ to }) => to)));
  const message = `${listFew([...images], (image) => image)} is out on ${out.length} more ${out.length === 1 ? 'workload' : 'workloads'}`;
  ports.report.recordEvent({ regarding: toObject(policy), type: 'Normal', reason: 'RolledOut', action: 'WatchRollout', message });
  ports.report.logger.info({ policy: policyKey(policy), workloads: out.length, why: message }, 'rollouts finished');
  const entries = (after.history ?? []).filter((entry) => entry.result === 'RolledOut' && isTriggered(before, entry));
  if (!entries.some((entry) => hasFailed(after, entry)))
    await recordResult({ policy, before }, entries, { kind: 'updated', reason: 'RolledOut', message }, ports);
}

/** Reports that the earlier images were rolled back to. */
export async function reportRollback(
  { policy, before }: Pick<StatusChange, 'policy' | 'before'>,
  workload: Workload,
  rollbacks: readonly Rollback[],
  ports: ReportPorts,
): Promise<void> {
  const entries = rollbacks.map(({ entry }) => entry);
  const rejection = before.rejected?.find(({ digest }) => entries.some((entry) => entry.digest === digest));
  const why = rejection?.message ?? describeRetry(policy, rollbacks, new Date(ports.cluster.now()));
  const message = entries.map(({ container, from, to }) => `${container} from ${to} back to ${from}`).join('; ');
  const text = `${message}${why === undefined ? '' : `: ${why}`}`;
  record(policy, workload, { type: 'Warning', reason: 'RolledBack', message: text }, ports);
  ports.report.metrics.changes.inc({ kind: workload.kind, source: 'Rollback' });
  await recordResult(
    { policy, before },
    entries,
    { kind: 'stalled', reason: 'RolledBack', message: `${formatWorkload(workload)}: ${text}` },
    ports,
  );
}

/** Why rollouts failed for which the image is not to blame, and when it is tried again. */
function describeRetry(policy: ImagePolicy, rollbacks: readonly Rollback[], now: Date): string | undefined {
  const [first] = rollbacks.filter(({ entry: { failure } }) => failure !== undefined && failure.against !== 'image');
  const message = first?.entry.failure?.message;
  if (first === undefined || message === undefined) return undefined;
  const { isDone, container } = first;
  const failures = (isDone ? container.lastUpdate?.retry : oneMoreFailure(container, policy, message))?.failures ?? 1;
  const until = nextTry(first.at === undefined ? now : new Date(first.at), failures);
  const next =
    until === undefined
      ? 'it is not tried again by itself'
      : `it is tried again at ${toSeconds(until)} (${failures} of ${retryPausesMs.length})`;
  return `${message}. This does not speak against the image: ${next}; "image-watcher release ${policy.namespace}/${policy.name}" tries it at once`;
}

/** The entries of the history that failed on a workload. */
interface FailedChange {
  readonly policy: ImagePolicy;
  readonly workload: Workload;
  readonly entries: readonly HistoryEntry[];
}

/** Reports that a failed image is not rolled back. Where the policy may not change the workload, nothing is written about it in the workload's namespace. */
export function reportNoRollback({ policy, workload, entries }: FailedChange, { reason, why }: Refusal, ports: ReportPorts): void {
  const message = `${entries.map(({ to }) => to).join(' and ')} failed and is not rolled back: ${why}`;
  record(policy, workload, { type: 'Warning', reason, message }, ports);
}

/** Reports a change that must not be rolled back; the workload is not read, and the kind in its history entry is not counted. */
export function reportRefused(
  policy: ImagePolicy,
  { entry, why }: RefusedRollback,
  { report: { recordEvent, logger } }: ReportPorts,
): void {
  const message = `${formatWorkload(entry)}: ${entry.to} failed and is not rolled back: ${why}`;
  recordEvent({ regarding: toObject(policy), action: 'WatchRollout', type: 'Warning', reason: 'RollbackRefused', message });
  logger.info({ policy: policyKey(policy), workload: workloadKey(entry), reason: 'RollbackRefused', why }, 'rollout finished');
}

/** Reports, when a change is made, that its rollout cannot be watched. */
export function reportNotWatched(policy: ImagePolicy, { changes = [] }: Outcome, ports: ReportPorts): void {
  const { spec } = policy;
  if (!isUsable(spec) || spec.rollout === undefined) return;
  const time = { since: new Date(ports.cluster.now()), timeoutMs: spec.rollout.timeoutMs };
  const changed = new Map<string, WorkloadRef>(changes.map(({ workload }) => [workloadKey(workload), workload]));
  for (const ref of changed.values()) {
    const workload = ports.cluster.findWorkload(ref);
    const evaluation = workload && evaluateRollout(workload, time, time.since);
    if (workload === undefined || evaluation?.kind !== 'notWatched') continue;
    for (const regarding of [toObject(policy), workload])
      ports.report.recordEvent({
        regarding,
        type: 'Normal',
        reason: 'RolloutNotWatched',
        action: 'WatchRollout',
        message: evaluation.message,
      });
  }
}

function record(
  policy: ImagePolicy,
  workload: Workload,
  event: { readonly type: 'Normal' | 'Warning'; readonly reason: Reason; readonly message: string },
  ports: ReportPorts,
): void {
  const message = `${formatWorkload(workload)}: ${event.message}`;
  ports.report.recordEvent({ regarding: toObject(policy), action: 'WatchRollout', ...event, message });
  if (event.reason !== 'RollbackRefused') ports.report.recordEvent({ regarding: workload, action: 'WatchRollout', ...event });
  ports.report.metrics.rollouts.inc({ kind: workload.kind, result: event.reason });
  ports.report.observer?.rolledOut?.(policyKey(policy), workload, event);
  ports.report.logger.info(
    { policy: policyKey(policy), workload: workloadKey(workload), reason: event.reason, why: event.message },
    'rollout finished',
  );
}

function wantsRollback({ spec }: ImagePolicy): boolean {
  return isUsable(spec) && spec.rollout?.onFailure === 'Rollback';
}

function resultOf({ history = [] }: PolicyStatus, entry: HistoryEntry): HistoryEntry['result'] | undefined {
  return history.find((one) => isSameEntry(one, entry))?.result;
}

/** A result that was found late, because no replica was running, is not measured. */
function observeAvailable(
  { spec }: ImagePolicy,
  status: PolicyStatus,
  entry: HistoryEntry,
  { report: { metrics }, cluster: { now } }: ReportPorts,
): void {
  const timeoutMs = isUsable(spec) ? (spec.rollout?.timeoutMs ?? 0) : 0;
  if (now() - Date.parse(entry.at) > timeoutMs) return;
  const received = isTriggered(status, entry) ? status.trigger?.receivedAt : undefined;
  metrics.pushToAvailableSeconds.observe((now() - Date.parse(received ?? entry.at)) / 1_000);
}

/** Records the result of rollouts with the pushes that caused the changes. */
async function recordResult(
  owner: Pick<StatusChange, 'policy' | 'before'>,
  entries: readonly HistoryEntry[],
  result: Pick<PolicyResult, 'kind' | 'reason' | 'message'>,
  ports: ReportPorts,
): Promise<void> {
  await recordChanges(owner, entries, { ...result, stage: 'rollout', at: new Date(ports.cluster.now()).toISOString() }, ports);
}
