/** Reports rollouts: Kubernetes Events on policy and workload, audit record, metrics, log. The status was written before. */
import type { RefusedRollback, Rollback } from '../../../core/rollout/automatic-rollback.ts';
import { isUsable, policyKey, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { evaluateWorkload } from '../../../core/rollout/evaluate-restarts.ts';
import { rolledOutWith } from '../../../core/rollout/current-rollouts.ts';
import { endedWaves } from '../../../core/rollout/waves-ended.ts';
import type { Refusal, RollbackOutcome } from '../../../core/rollout/record-results.ts';
import { isFollowedField } from '../../../core/rollout/watched-images.ts';
import { hasFailed, type ChangedWorkload, type RolloutResult, type RolloutResults } from '../../../core/rollout/decide-rollouts.ts';
import { cut, listFew, toSeconds } from '../../../core/model/text.ts';
import { describeImagesBack, listImages } from '../../../core/plan/changed-images.ts';
import type { Outcome } from '../../../core/plan/outcome.ts';
import { isTriggered } from '../../../core/model/is-triggered.ts';
import type { HistoryEntry, PolicyStatus } from '../../../core/model/policy-status.ts';
import { maxLengths } from '../../../core/model/status-fields.ts';
import { nextTry, oneMoreFailure, retryPausesMs } from '../../../core/plan/retries.ts';
import type { Reason } from '../../../core/model/reasons.ts';
import { formatWorkload, workloadKey, type Workload } from '../../../core/model/workload.ts';
import type { PolicyResult } from '../../queue/event-log.ts';
import { toObject } from '../report-events.ts';
import { eventOf, recordChanges, type ChangesOwner } from '../record-changes.ts';
import type { ReportPorts } from '../report-changes.ts';
import { traceRollout } from '../trace-decisions.ts';

/** Reports the rollouts that have a new result. */
export async function reportResults(policy: ImagePolicy, found: RolloutResults, ports: ReportPorts): Promise<void> {
  const { before } = found;
  for (const result of found.results) {
    const { workload, entries, isDone, message, isLast, whyNoRollback: why } = result;
    const reason = isDone ? 'RolledOut' : 'RolloutFailed';
    record(policy, workload, { type: isDone ? 'Normal' : 'Warning', reason, message }, ports);
    if (isDone) observeAvailable(policy, before, entries[0], ports);
    if (!isDone) await recordFailed(policy, found, result, ports);
    else if (isLast) await recordRolledOut(policy, found, result, ports);
    if (why !== undefined) reportNoRollback(policy, { workload, entries }, { reason: 'RollbackFailed', why }, ports);
  }
  await reportCompleted(policy, found, ports);
}

/** Reports that a push is rolled out whose other waves have nothing left to change. */
export async function reportEndedWaves(policy: ImagePolicy, before: PolicyStatus, after: PolicyStatus, ports: ReportPorts): Promise<void> {
  const [first, ...others] = endedWaves(before, after);
  if (first === undefined) return;
  const message = `${listImages([first])} is out on ${formatWorkload(first)}`;
  await recordRolledOut(policy, { before, after }, { entries: [first, ...others], message }, ports);
}

/** Records a failure with the push that has caused the change, and with those that brought the same image to other workloads, where it is out. */
async function recordFailed(
  policy: ImagePolicy,
  { before, after }: Pick<RolloutResults, 'before' | 'after'>,
  { workload, entries, message }: RolloutResult,
  ports: ReportPorts,
): Promise<void> {
  const [failed] = entries;
  const event = eventOf(before, failed, ports);
  const others = rolledOutWith(after, failed).filter((entry) => eventOf(before, entry, ports) !== event);
  const result = { kind: 'stalled', reason: 'RolloutFailed', message } as const;
  await recordResult({ policy, before }, entries, result, ports);
  await recordResult({ policy, before }, others, { ...result, message: `${formatWorkload(workload)}: ${message}` }, ports);
}

/** Records that an image is rolled out with the pushes that brought it to workloads, with the message of its only workload, or with a list of its workloads. */
async function recordRolledOut(
  policy: ImagePolicy,
  { before, after }: Pick<RolloutResults, 'before' | 'after'>,
  { entries: [image], message }: Pick<RolloutResult, 'entries' | 'message'>,
  ports: ReportPorts,
): Promise<void> {
  const entries = rolledOutWith(after, image);
  const workloads = [...new Set(entries.map(formatWorkload))];
  const all = `${listImages(entries)} is out on ${workloads.length} workloads: ${listFew(workloads, (workload) => workload)}`;
  const result = { kind: 'updated', reason: 'RolledOut', message: workloads.length <= 1 ? message : all } as const;
  await recordResult({ policy, before }, entries, result, ports);
}

/** Once all rollouts are over, reports the successful ones that the history does not hold. */
async function reportCompleted(policy: ImagePolicy, { before, after, completed }: RolloutResults, ports: ReportPorts): Promise<void> {
  for (const { workload, entries } of completed) {
    ports.report.metrics.rollouts.inc({ kind: workload.kind, result: 'RolledOut' });
    const result = { reason: 'RolledOut', message: `${listImages(entries)} is out` } as const;
    traceRollout(policyKey(policy), workload, result);
  }
  if (completed.length === 0) return;
  const images = new Set(completed.map(({ entries }) => listImages(entries)));
  const workloads = completed.length;
  const message = `${listFew([...images], (image) => image)} is out on ${workloads} more ${workloads === 1 ? 'workload' : 'workloads'}`;
  ports.report.recordEvent({ regarding: toObject(policy), type: 'Normal', reason: 'RolledOut', action: 'WatchRollout', message });
  ports.report.logger.info({ policy: policyKey(policy), workloads, why: message }, 'rollouts finished');
  const entries = (after.history ?? []).filter((entry) => entry.result === 'RolledOut' && isTriggered(before, entry));
  if (!entries.some((entry) => hasFailed(after, entry)))
    await recordResult({ policy, before }, entries, { kind: 'updated', reason: 'RolledOut', message }, ports);
}

/** The results of rollbacks. */
interface RollbackReport {
  readonly outcomes: readonly RollbackOutcome[];
  readonly refused: readonly RefusedRollback[];
  /** Whether the status did not say before that the earlier images were rolled back to. */
  readonly isNew: boolean;
}

/** Reports rollbacks. `policy`: with its status before. */
export async function reportRollbacks(
  policy: ImagePolicy,
  { outcomes, refused, isNew }: RollbackReport,
  ports: ReportPorts,
): Promise<void> {
  for (const one of refused) reportRefused(policy, one, ports);
  for (const outcome of outcomes) {
    const { workload, rollbacks } = outcome;
    const entries = rollbacks.map(({ entry }) => entry);
    if (outcome.kind === 'back') {
      if (isNew) await reportRollback(policy, workload, rollbacks, ports);
    } else if (entries.some((entry) => entry.rollbackRefused?.message !== cut(outcome.refusal.why, maxLengths.message))) {
      reportNoRollback(policy, { workload, entries }, outcome.refusal, ports);
    }
  }
}

/** Reports that the earlier images were rolled back to. */
async function reportRollback(policy: ImagePolicy, workload: Workload, rollbacks: readonly Rollback[], ports: ReportPorts): Promise<void> {
  const entries = rollbacks.map(({ entry }) => entry);
  const rejection = policy.status.rejected?.find(({ digest }) => entries.some((entry) => entry.digest === digest));
  const why = rejection?.message ?? describeRetry(policy, rollbacks, new Date(ports.cluster.now()));
  const message = entries.map(describeImagesBack).join('; ');
  const text = `${message}${why === undefined ? '' : `: ${why}`}`;
  record(policy, workload, { type: 'Warning', reason: 'RolledBack', message: text }, ports);
  ports.report.metrics.changes.inc({ kind: workload.kind, source: 'Rollback' });
  await recordResult(
    { policy, before: policy.status },
    entries,
    { kind: 'stalled', reason: 'RolledBack', message: `${formatWorkload(workload)}: ${text}` },
    ports,
  );
}

/** The reasons of failed rollouts that the image did not cause, and when the image is tried again. */
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

/** Reports that a failed image is not rolled back. Where the policy may not change the workload, nothing is written about it in the workload's namespace. */
function reportNoRollback(policy: ImagePolicy, { workload, entries }: ChangedWorkload, { reason, why }: Refusal, ports: ReportPorts): void {
  const message = `${listImages(entries)} failed and is not rolled back: ${why}`;
  record(policy, workload, { type: 'Warning', reason, message }, ports);
}

/** Reports a change that must not be rolled back; the workload is not read, and the kind in its history entry is not counted. */
function reportRefused(policy: ImagePolicy, { entry, why }: RefusedRollback, { report: { recordEvent, logger } }: ReportPorts): void {
  const message = `${formatWorkload(entry)}: ${listImages([entry])} failed and is not rolled back: ${why}`;
  recordEvent({ regarding: toObject(policy), action: 'WatchRollout', type: 'Warning', reason: 'RollbackRefused', message });
  logger.info({ policy: policyKey(policy), workload: workloadKey(entry), reason: 'RollbackRefused', why }, 'rollout finished');
}

/** Reports, when a change is made, that its rollout cannot be watched. */
export function reportNotWatched(policy: ImagePolicy, outcome: Outcome, ports: ReportPorts): void {
  for (const { workload, evaluation } of changedWorkloads(policy, outcome, ports)) {
    if (evaluation.kind !== 'notWatched') continue;
    const event = { type: 'Normal', reason: 'RolloutNotWatched', action: 'WatchRollout', message: evaluation.message } as const;
    for (const regarding of [toObject(policy), workload]) ports.report.recordEvent({ regarding, ...event });
  }
}

/** Whether any rollout of the changes is watched, so that its result will be recorded; also true if nothing was changed, or if no workload is known any more. */
export function areWatched(policy: ImagePolicy, outcome: Outcome, ports: ReportPorts): boolean {
  if ((outcome.changes ?? []).length === 0 || !isUsable(policy.spec)) return true;
  if (policy.spec.rollout === undefined) return false;
  const workloads = changedWorkloads(policy, outcome, ports);
  return workloads.length === 0 || workloads.some(({ evaluation }) => evaluation.kind !== 'notWatched');
}

/** The changed workloads with their rollouts, as far as they are known; none if the policy watches none. */
function changedWorkloads({ spec }: ImagePolicy, { changes = [] }: Outcome, { cluster: { now, findWorkload } }: ReportPorts) {
  if (!isUsable(spec) || spec.rollout === undefined) return [];
  const time = { since: new Date(now()), timeoutMs: spec.rollout.timeoutMs };
  const { targets } = spec;
  const changed = new Map(changes.map((change) => [workloadKey(change.workload), change]));
  return [...changed.values()].flatMap(({ workload: ref, container }) => {
    const workload = findWorkload(ref);
    if (workload === undefined) return [];
    const view = { at: time.since, findWorkload };
    return [{ workload, evaluation: evaluateWorkload(asFollowed(workload, isFollowedField(targets, workload, container)), time, view) }];
  });
}

/** The workload as its rollout is followed: what the controller of a custom resource reports counts for charts only. */
function asFollowed({ installation, ...others }: Workload, isChart: boolean): Workload {
  return isChart && installation !== undefined ? { ...others, installation } : others;
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
  traceRollout(policyKey(policy), workload, event);
  ports.report.logger.info(
    { policy: policyKey(policy), workload: workloadKey(workload), reason: event.reason, why: event.message },
    'rollout finished',
  );
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
  owner: ChangesOwner,
  entries: readonly HistoryEntry[],
  result: Pick<PolicyResult, 'kind' | 'reason' | 'message'>,
  ports: ReportPorts,
): Promise<void> {
  await recordChanges(owner, entries, { ...result, stage: 'rollout', at: new Date(ports.cluster.now()).toISOString() }, ports);
}
