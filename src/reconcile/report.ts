/** Reports how a reconcile of a policy ended: status, Kubernetes Events, audit record, metrics, log. */
import type { Candidate } from '../model/image-reference.ts';
import { asSeenBy } from '../plan/consent.ts';
import { WaitError, describeError } from '../model/errors.ts';
import { policyKey, type ImagePolicy } from '../model/image-policy.ts';
import { listFew } from '../model/text.ts';
import { nextStatus, type ReconcileCause } from '../status/next-status.ts';
import { describeChange, type Outcome, type Postponement } from '../plan/outcome.ts';
import type { AppliedChange } from '../plan/plan-update.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';
import { workloadKey } from '../model/workload.ts';
import type { PolicyResult } from '../queue/event-log.ts';
import type { Decision, Ports, Report } from './ports.ts';
import { toObject, reportBlocked, reportRepeated } from './report-events.ts';
import { reportNotWatched } from './rollouts/report-rollouts.ts';

export type ReportPorts = Pick<Ports, 'report' | 'policies' | 'cluster'>;

/** A failure may be over at the next try, so it is written to the policy's status only when it lasts, or when the status says nothing yet. */
const failuresBeforeStatus = 2;
/** A wait for a registry may be as short, and hundreds of policies may wait for the same registry. */
const shortWaitMs = 5_000;
const registryWaits: ReadonlySet<Reason> = new Set<Reason>(['NotShownYet', 'RegistryThrottled', 'RegistryUnavailable', 'RegistryBusy']);
const maxChanges = 20;

/** What a report is about: the reconcile of a policy, and why there was one. */
export interface Subject {
  readonly policy: ImagePolicy;
  readonly cause: ReconcileCause;
  readonly signal: AbortSignal;
  /** When the image was known to be the right one, in ms since 1970. */
  readonly verifiedAt?: number | undefined;
}

/** Reports an outcome. Throws when the status or the audit record could not be written: the job is then retried. */
export async function reportOutcome({ policy, cause, signal, verifiedAt }: Subject, outcome: Outcome, ports: ReportPorts): Promise<void> {
  const now = new Date(ports.cluster.now());
  count(policyKey(policy), outcome, cause, ports);
  reportChanges(policy, outcome, cause, ports);
  let replaced = policy.status;
  let written: PolicyStatus | undefined;
  const writeStatus = async () => {
    // An ignored push is not written to the status.
    if (outcome.kind === 'ignored') return;
    await ports.policies.writeStatus(
      policy,
      (status) => {
        replaced = status;
        written = nextStatus({ ...policy, status }, outcome, cause, now, asSeenBy(policy, ports.cluster));
        return written;
      },
      signal,
      cause.eventId,
    );
  };
  const verifiedMs = verifiedAt === undefined || outcome.kind !== 'updated' ? undefined : verifiedAt - Date.parse(cause.receivedAt);
  const result = { ...resultOf(outcome), ...(verifiedMs !== undefined && { verifiedMs }) };
  // The next push must not wait behind the report of this one.
  if (outcome.kind !== 'ignored') await ports.report.untilPatched?.();
  await Promise.all([writeStatus(), recordResult(policyKey(policy), result, cause, ports, now)]);
  // A concurrent reconcile may have reported the outcome already.
  const before = { ...policy, status: replaced };
  reportUpdate(before, written, outcome, ports.report);
  if (outcome.kind === 'stalled') reportStalled(before, outcome, ports);
  else if (outcome.kind === 'waiting') reportWaiting(before, outcome, ports);
  else reportBlocked(before, outcome, ports.report);
  reportNotWatched(policy, outcome, ports);
}

/** Reports the outcome of a job whose policy was deleted before the job ran. */
export async function reportGone(key: string, outcome: Outcome, cause: ReconcileCause, ports: ReportPorts): Promise<void> {
  count(key, outcome, cause, ports);
  await recordResult(key, resultOf(outcome), cause, ports);
}

/** A failed try: its job, and how many tries failed before it. */
export interface FailedTry extends Omit<Subject, 'policy'> {
  /** Undefined where it was deleted. */
  readonly policy: ImagePolicy | undefined;
  readonly key: string;
  readonly failures: number;
  readonly isLastTry: boolean;
  /** The image that the job was about. */
  readonly hint?: Candidate;
  /** What was changed in spite of the failure. */
  readonly applied?: readonly AppliedChange[];
}

/** Reports that a try failed and what happens next; never throws, because the failure itself matters more. */
export async function reportFailure(
  { policy, key, cause, failures, isLastTry, hint, applied = [], signal }: FailedTry,
  error: unknown,
  ports: ReportPorts,
): Promise<void> {
  if (policy !== undefined) reportChanges(policy, { changes: applied }, cause, ports);
  const isWait = error instanceof WaitError;
  const isShortWait = isWait && registryWaits.has(error.reason) && error.until.getTime() - ports.cluster.now() < shortWaitMs;
  const reason: Reason = isWait ? error.reason : 'Retrying';
  const message = describeError(error);
  count(key, { kind: isWait ? 'waiting' : 'retrying', reason, message }, cause, ports);
  ports.report.logger[isShortWait ? 'debug' : 'warn'](
    { policy: key, source: cause.source, event: cause.eventId, reason, why: message, failures },
    'reconcile failed, will be repeated',
  );
  // Other waits are no failures. A process that stops aborts its attempts, and others repeat them at once.
  const hasFailed = !isWait || (registryWaits.has(error.reason) && !isShortWait);
  if (policy !== undefined && hasFailed && !signal.aborted) reportRepeated(policy, reason, message, ports.report);
  const kind = isLastTry ? 'failed' : isWait ? 'waiting' : 'retrying';
  const postponement: Postponement = { kind: 'postponed', reason, message, ...(isWait && { until: error.until, ...hint }) };
  const needed = policy?.status.conditions === undefined && !isShortWait ? 0 : failuresBeforeStatus;
  const isWrittenToStatus = policy !== undefined && ((isWait && !isShortWait) || isLastTry || failures >= needed);
  const results = await Promise.allSettled([
    recordResult(key, { kind, reason, message }, cause, ports),
    isWrittenToStatus &&
      ports.policies.writeStatus(
        policy,
        (status) => nextStatus({ ...policy, status }, postponement, cause, new Date(ports.cluster.now()), asSeenBy(policy, ports.cluster)),
        signal,
        cause.eventId,
      ),
  ]);
  for (const result of results) {
    if (result.status === 'rejected')
      ports.report.logger.warn({ policy: key, why: describeError(result.reason) }, 'failure could not be reported');
  }
}

function count(
  key: string,
  decision: Decision,
  { source, eventId }: ReconcileCause,
  { report: { metrics, observer, logger } }: ReportPorts,
): void {
  const { kind: outcome, reason, message: why, tag } = decision;
  metrics.reconciles.inc({ source, outcome, reason });
  logger.debug({ policy: key, source, event: eventId, outcome, reason, why, tag }, 'policy reconciled');
  observer?.decided?.(key, decision);
}

function reportChanges(policy: ImagePolicy, outcome: Pick<Outcome, 'changes'>, cause: ReconcileCause, ports: ReportPorts): void {
  for (const change of outcome.changes ?? []) {
    const message = `${change.container} from ${change.from} to ${change.to}, selected by ImagePolicy ${policyKey(policy)}`;
    const workload = ports.cluster.findWorkload(change.workload);
    if (workload !== undefined) {
      ports.report.recordEvent({ regarding: workload, type: 'Normal', reason: 'Updated', action: 'UpdateImage', message });
    }
    const fields = { policy: policyKey(policy), source: cause.source, event: cause.eventId };
    ports.report.logger.info({ ...fields, workload: workloadKey(change.workload), from: change.from, to: change.to }, 'workload updated');
    ports.report.metrics.changes.inc({ kind: change.workload.kind, source: cause.source });
  }
  if (outcome.changes === undefined || outcome.changes.length === 0) return;
  ports.report.metrics.pushToPatchSeconds.observe((ports.cluster.now() - Date.parse(cause.receivedAt)) / 1_000);
}

/** Records an Event of the policy where an update changes what its condition says: each change has an Event of its workload, and an entry in the history. */
function reportUpdate(policy: ImagePolicy, written: PolicyStatus | undefined, { changes = [] }: Outcome, { recordEvent }: Report): void {
  if (changes.length === 0 || reasonOf(policy.status) === reasonOf(written ?? policy.status)) return;
  const message = listFew(changes, describeChange);
  recordEvent({ regarding: toObject(policy), type: 'Normal', reason: 'Updated', action: 'UpdateImage', message });
}

function reasonOf({ conditions = [] }: PolicyStatus): string | undefined {
  return conditions.find(({ type }) => type === 'Ready')?.reason;
}

/** Records an Event when a policy becomes Stalled or its reason changes, not each time that it is found so. */
function reportStalled(policy: ImagePolicy, outcome: Outcome, ports: ReportPorts): void {
  const before = policy.status.conditions?.find((condition) => condition.type === 'Stalled');
  if (before?.status === 'True' && before.reason === outcome.reason && before.message === outcome.message) return;
  ports.report.logger.info({ policy: policyKey(policy), reason: outcome.reason, why: outcome.message }, 'policy stalled');
  const { reason, message } = outcome;
  ports.report.recordEvent({ regarding: toObject(policy), type: 'Warning', reason, action: 'Reconcile', message });
}

/** Records an Event when a wait begins, not each time that it is found to last. */
function reportWaiting(policy: ImagePolicy, { reason, message, pending }: Outcome, ports: ReportPorts): void {
  if (pending?.next?.until === policy.status.waiting?.until) return;
  ports.report.logger.info({ policy: policyKey(policy), reason, why: message }, 'policy waiting');
  ports.report.recordEvent({ regarding: toObject(policy), type: 'Normal', reason, action: 'Wait', message });
}

async function recordResult(
  key: string,
  result: Omit<PolicyResult, 'at' | 'afterMs'>,
  cause: ReconcileCause,
  ports: ReportPorts,
  at = new Date(ports.cluster.now()),
): Promise<void> {
  if (cause.eventId === undefined) return;
  const afterMs = at.getTime() - Date.parse(cause.receivedAt);
  await ports.report.eventLog.recordResult(cause.eventId, key, { ...result, at: at.toISOString(), afterMs });
}

function resultOf({ kind, reason, message, tag, digest, changes, retryAt }: Outcome): Omit<PolicyResult, 'at' | 'afterMs'> {
  return {
    kind: retryAt === undefined ? kind : 'waiting',
    reason,
    message: retryAt === undefined ? message : `${message}; the next try is at ${retryAt.toISOString()}`,
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
    // A policy may change hundreds of workloads; the message counts them.
    ...(changes !== undefined && { changes: changes.slice(0, maxChanges) }),
  };
}
