/** Reports a failed try of a reconcile. The status shows it only if the failure lasts. */
import { defined } from '../../core/model/defined.ts';
import { WaitError, describeError } from '../../core/model/errors.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import type { Candidate } from '../../core/model/image-reference.ts';
import type { PolicyStatus } from '../../core/model/policy-status.ts';
import type { Reason } from '../../core/model/reasons.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import type { Postponement } from '../../core/plan/outcome.ts';
import type { AppliedChange } from '../../core/plan/plan-update.ts';
import { openRollback } from '../../core/plan/rollback.ts';
import { changedTargets } from '../../core/plan/seen-targets.ts';
import { isOlderThanShown } from '../../core/status/is-older.ts';
import { nextStatus, type ReconcileCause } from '../../core/status/next-status.ts';
import { completingJob } from './enqueue/completing-job.ts';
import type { SeenCluster } from './ports.ts';
import { recordResult, toRecorded, withFound } from './record-result.ts';
import { count, reportChanges, type ReportPorts, type Subject } from './report-changes.ts';
import { reportRepeated } from './report-events.ts';

/** How many failed tries are needed before the status shows the failure, unless the status is empty. A failure may be over at the next try. */
const failuresBeforeStatus = 2;
/** A wait that is longer than this is written to the status. Waits for a registry may be short, and hundreds of policies may wait for the same one. */
const shortWaitMs = 5_000;
const registryWaits: ReadonlySet<Reason> = new Set<Reason>(['NotShownYet', 'RegistryThrottled', 'RegistryUnavailable', 'RegistryBusy']);

/** A failed try: its job, and how many tries failed before it. */
export interface FailedTry extends Omit<Subject, 'policy'> {
  /** The policy; undefined if it was deleted. */
  readonly policy: ImagePolicy | undefined;
  readonly key: string;
  readonly failures: number;
  readonly isLastTry: boolean;
  /** Whether this worker still holds the job. */
  readonly isOurs: () => Promise<boolean>;
  /** The image that the failure is about, or else the job. */
  readonly image?: Candidate;
  /** The changes that were made in spite of the failure. */
  readonly applied?: readonly AppliedChange[];
}

/** Reports that a try failed and what happens next. Never throws, because the failure itself matters more. */
export async function reportFailure(
  { policy, key, cause, failures, isLastTry, isOurs, image, applied = [], signal }: FailedTry,
  error: unknown,
  ports: ReportPorts,
): Promise<void> {
  const view = policy && asSeenBy(policy, ports.cluster);
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
  const kind = isLastTry ? 'failed' : isWait ? 'waiting' : 'retrying';
  const postponement: Postponement = { kind: 'postponed', reason, message, ...(isWait && { until: error.until, ...pickImage(image) }) };
  // A failing registry is asked again and again. The status of a new policy would be empty during that time, so its first failure is written.
  const isSaid = policy?.status.conditions !== undefined || (isShortWait && reason !== 'RegistryUnavailable');
  const needed = isSaid ? failuresBeforeStatus : 0;
  const isLasting = (isWait && !isShortWait) || isLastTry || failures >= needed;
  // A change is recorded at once: another policy of the same container may soon take its place in the record of the workload.
  const hasChanged = applied.length > 0 || saysOtherwise(policy, view);
  const isWrittenToStatus = policy !== undefined && (isLasting || hasChanged);
  // Other waits are no failures. A process that stops aborts its attempts, and others repeat them at once.
  const hasFailed = !isWait || (registryWaits.has(error.reason) && (isWrittenToStatus || !isShortWait));
  if (policy !== undefined && hasFailed && !signal.aborted) reportRepeated(policy, reason, message, ports.report);
  const isBehind = (current: ImagePolicy) => cause.isHinted === true && image !== undefined && isOlderThanShown(current, image.tag);
  const result = { kind, reason, message, ...(applied.length > 0 && { changes: applied.map(toRecorded) }) } as const;
  const record = async () => {
    if (applied.length > 0 || !(await isLost(cause, isOurs)))
      await recordResult(key, withFound(result, applied, { policy, cause, isOver: false }, view), { cause }, ports);
  };
  const results = await Promise.allSettled([
    record(),
    isWrittenToStatus &&
      ports.policies.writeStatus(
        policy,
        // A failure about an older image than the status is not written: it says nothing about the newer one, and nothing would end that state.
        (status) =>
          isRollbackOver(policy, status, cause, ports) || isBehind({ ...policy, status })
            ? undefined
            : nextStatus({ ...policy, status }, postponement, { cause, now: new Date(ports.cluster.now()) }, view),
        signal,
        cause.eventId,
      ),
  ]);
  const [completed] = await Promise.allSettled([completeIfLost(policy, isOurs, ports)]);
  for (const result of [...results, completed]) {
    if (result.status === 'rejected')
      ports.report.logger.warn({ policy: key, why: describeError(result.reason) }, 'failure could not be reported');
  }
}

function pickImage(image: Candidate | undefined): Candidate | undefined {
  return image && { tag: image.tag, ...defined({ digest: image.digest }) };
}

/** Whether the try was for a rollback that another job has done since, or that the user has taken back. No other try follows then. */
function isRollbackOver(policy: ImagePolicy, status: PolicyStatus, { rollback }: ReconcileCause, { policies }: ReportPorts): boolean {
  const current = policies.find(policy.namespace, policy.name) ?? policy;
  return rollback !== undefined && openRollback({ ...current, status }) !== rollback;
}

/** Whether another worker has the job of a push now. That one may have recorded its end already, which the failure of this try would replace for ever. */
async function isLost({ eventId }: ReconcileCause, isOurs: FailedTry['isOurs']): Promise<boolean> {
  return eventId !== undefined && !(await isOurs().catch(() => true));
}

/** Completes the status if another worker has the job now. That worker may have reported the job's end, and nothing repeats this try. */
async function completeIfLost(policy: FailedTry['policy'], isOurs: FailedTry['isOurs'], { queues, cluster }: ReportPorts): Promise<void> {
  if (policy !== undefined && !(await isOurs())) await queues.addPolicyJobs([completingJob(policy, new Date(cluster.now()))]);
}

/** Whether the status says that the targets run something else than they do: that must not wait until the failure is over. */
function saysOtherwise(policy: ImagePolicy | undefined, cluster: SeenCluster | undefined): boolean {
  return (
    policy !== undefined &&
    cluster !== undefined &&
    changedTargets(policy, cluster, { now: new Date(cluster.now()), withNew: false }).length > 0
  );
}
