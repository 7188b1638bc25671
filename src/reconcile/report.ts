/** Reports how a reconcile of a policy ended: status, Kubernetes Events, audit record, metrics, log. */
import type { Candidate } from '../model/image-reference.ts';
import { asSeenBy, type ConsentRules } from '../plan/consent.ts';
import { WaitError, describeError } from '../model/errors.ts';
import { policyKey, type ImagePolicy } from '../model/image-policy.ts';
import { listFew } from '../model/text.ts';
import { nextStatus, type ReconcileCause } from '../status/next-status.ts';
import { describeChange, type Outcome, type Postponement } from '../plan/outcome.ts';
import type { AppliedChange } from '../plan/plan-update.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';
import type { WorkloadView } from '../model/resolve-target.ts';
import { workloadKey, type Workload } from '../model/workload.ts';
import type { EventLog, PolicyResult } from '../queue/event-log.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { toObject, type ObjectEvent, reportBlocked, reportRepeated } from './report-events.ts';
import { reportNotWatched } from './rollouts/report-rollouts.ts';

export interface ReportPorts extends WorkloadView, ConsentRules {
  /** Writes what `update` makes of the newest status; writes nothing when it returns undefined. */
  readonly writeStatus: (
    policy: ImagePolicy,
    update: (status: PolicyStatus) => PolicyStatus | undefined,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Resolves when no image is being changed, or after a while: reports that can wait are written after that. */
  readonly imagesAreOut?: () => Promise<void>;
  readonly recordEvent: (event: ObjectEvent) => void;
  readonly eventLog: EventLog;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** In ms since 1970. */
  readonly now: () => number;
  readonly observer?: DecisionObserver;
}

/** A failure may be over at the next try, so it is written to the policy's status only when it lasts, or when the status says nothing yet. */
const failuresBeforeStatus = 2;
/** A wait for a registry may be as short, and hundreds of policies may wait for the same registry. */
const shortWaitMs = 5_000;
const registryWaits: ReadonlySet<Reason> = new Set<Reason>(['NotShownYet', 'RegistryThrottled', 'RegistryUnavailable', 'RegistryBusy']);
const maxChanges = 20;

/** Reports an outcome. Throws when the status or the audit record could not be written: the job is then retried. */
export async function reportOutcome(
  policy: ImagePolicy,
  outcome: Outcome,
  cause: ReconcileCause,
  ports: ReportPorts,
  signal: AbortSignal,
): Promise<void> {
  const now = new Date(ports.now());
  count(policyKey(policy), outcome, cause, ports);
  reportChanges(policy, outcome, cause, ports);
  let replaced = policy.status;
  const writeStatus = async () => {
    // An ignored push is not written to the status.
    if (outcome.kind === 'ignored') return;
    await ports.imagesAreOut?.();
    await ports.writeStatus(
      policy,
      (status) => {
        replaced = status;
        return nextStatus({ ...policy, status }, outcome, cause, now, asSeenBy(policy, ports));
      },
      signal,
    );
  };
  await Promise.all([writeStatus(), recordResult(policyKey(policy), resultOf(outcome), cause, ports)]);
  // A concurrent reconcile may have reported the outcome already.
  const before = { ...policy, status: replaced };
  if (outcome.kind === 'stalled') reportStalled(before, outcome, ports);
  else if (outcome.kind === 'waiting') reportWaiting(before, outcome, ports);
  else reportBlocked(before, outcome, ports);
  reportNotWatched(policy, outcome, ports);
}

/** Reports the outcome of a job whose policy was deleted before the job ran. */
export async function reportGone(key: string, outcome: Outcome, cause: ReconcileCause, ports: ReportPorts): Promise<void> {
  count(key, outcome, cause, ports);
  await recordResult(key, resultOf(outcome), cause, ports);
}

/** The failed try: its job, and how many tries failed before it. */
export interface Failure {
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
  policy: ImagePolicy | undefined,
  error: unknown,
  cause: ReconcileCause,
  { key, failures, isLastTry, hint, applied = [] }: Failure,
  ports: ReportPorts,
  signal: AbortSignal,
): Promise<void> {
  if (policy !== undefined) reportChanges(policy, { changes: applied }, cause, ports);
  const isWait = error instanceof WaitError;
  const isShortWait = isWait && registryWaits.has(error.reason) && error.until.getTime() - ports.now() < shortWaitMs;
  const reason: Reason = isWait ? error.reason : 'Retrying';
  const message = describeError(error);
  count(key, { kind: isWait ? 'waiting' : 'retrying', reason, message }, cause, ports);
  ports.logger[isShortWait ? 'debug' : 'warn'](
    { policy: key, source: cause.source, event: cause.eventId, reason, why: message, failures },
    'reconcile failed, will be repeated',
  );
  // Other waits are no failures. A process that stops aborts its attempts, and others repeat them at once.
  const hasFailed = !isWait || (registryWaits.has(error.reason) && !isShortWait);
  if (policy !== undefined && hasFailed && !signal.aborted) reportRepeated(policy, reason, message, ports);
  const kind = isLastTry ? 'failed' : isWait ? 'waiting' : 'retrying';
  const postponement: Postponement = { kind: 'postponed', reason, message, ...(isWait && { until: error.until, ...hint }) };
  const needed = policy?.status.conditions === undefined && !isShortWait ? 0 : failuresBeforeStatus;
  const isWrittenToStatus = policy !== undefined && ((isWait && !isShortWait) || isLastTry || failures >= needed);
  const results = await Promise.allSettled([
    recordResult(key, { kind, reason, message }, cause, ports),
    isWrittenToStatus &&
      ports.writeStatus(
        policy,
        (status) => nextStatus({ ...policy, status }, postponement, cause, new Date(ports.now()), asSeenBy(policy, ports)),
        signal,
      ),
  ]);
  for (const result of results) {
    if (result.status === 'rejected')
      ports.logger.warn({ policy: key, why: describeError(result.reason) }, 'failure could not be reported');
  }
}

function count(key: string, decision: Decision, { source, eventId }: ReconcileCause, { metrics, observer, logger }: ReportPorts): void {
  const { kind: outcome, reason, message: why, tag } = decision;
  metrics.reconciles.inc({ source, outcome, reason });
  logger.debug({ policy: key, source, event: eventId, outcome, reason, why, tag }, 'policy reconciled');
  observer?.decided?.(key, decision);
}

function reportChanges(policy: ImagePolicy, outcome: Pick<Outcome, 'changes'>, cause: ReconcileCause, ports: ReportPorts): void {
  for (const change of outcome.changes ?? []) {
    const message = `${change.container} from ${change.from} to ${change.to}, selected by ImagePolicy ${policyKey(policy)}`;
    const workload = ports.findWorkload(change.workload);
    if (workload !== undefined) {
      ports.recordEvent({ regarding: workload, type: 'Normal', reason: 'Updated', action: 'UpdateImage', message });
    }
    const fields = { policy: policyKey(policy), source: cause.source, event: cause.eventId };
    ports.logger.info({ ...fields, workload: workloadKey(change.workload), from: change.from, to: change.to }, 'workload updated');
    ports.metrics.changes.inc({ kind: change.workload.kind, source: cause.source });
  }
  if (outcome.changes === undefined || outcome.changes.length === 0) return;
  ports.metrics.pushToPatchSeconds.observe((ports.now() - Date.parse(cause.receivedAt)) / 1_000);
  const message = listFew(outcome.changes, describeChange);
  ports.recordEvent({ regarding: toObject(policy), type: 'Normal', reason: 'Updated', action: 'UpdateImage', message });
}

/** Records an Event when a policy becomes Stalled or its reason changes, not each time that it is found so. */
function reportStalled(policy: ImagePolicy, outcome: Outcome, ports: ReportPorts): void {
  const before = policy.status.conditions?.find((condition) => condition.type === 'Stalled');
  if (before?.status === 'True' && before.reason === outcome.reason && before.message === outcome.message) return;
  ports.logger.info({ policy: policyKey(policy), reason: outcome.reason, why: outcome.message }, 'policy stalled');
  const { reason, message } = outcome;
  ports.recordEvent({ regarding: toObject(policy), type: 'Warning', reason, action: 'Reconcile', message });
}

/** Records an Event when a wait begins, not each time that it is found to last. */
function reportWaiting(policy: ImagePolicy, { reason, message, pending }: Outcome, ports: ReportPorts): void {
  if (pending?.next?.until === policy.status.waiting?.until) return;
  ports.logger.info({ policy: policyKey(policy), reason, why: message }, 'policy waiting');
  ports.recordEvent({ regarding: toObject(policy), type: 'Normal', reason, action: 'Wait', message });
}

async function recordResult(
  key: string,
  result: Pick<PolicyResult, 'kind' | 'reason' | 'message'>,
  cause: ReconcileCause,
  ports: ReportPorts,
): Promise<void> {
  if (cause.eventId === undefined) return;
  const at = new Date(ports.now());
  const afterMs = at.getTime() - Date.parse(cause.receivedAt);
  await ports.eventLog.recordResult(cause.eventId, key, { ...result, at: at.toISOString(), afterMs });
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

/** How the reconcile of a policy ended: with an outcome, or with the reason why it is requeued. */
export interface Decision extends Pick<Outcome, 'reason' | 'message' | 'tag' | 'blocked'> {
  readonly kind: Outcome['kind'] | 'retrying';
}

/** Receives decisions as they are reported, for traces; must not throw. */
export interface DecisionObserver {
  /** The policies that watch the repository of a push; may be empty. */
  readonly matched?: (policies: readonly string[]) => void;
  /** `policy` is `namespace/name`. */
  readonly decided?: (policy: string, decision: Decision) => void;
  /** A rollout has completed or failed. */
  readonly rolledOut?: (policy: string, workload: Workload, result: { readonly reason: Reason; readonly message: string }) => void;
}
