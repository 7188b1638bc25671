/** Reports how a reconcile of a policy ended: status, Kubernetes Events, audit record, metrics, log. */
import { isDeepStrictEqual } from 'node:util';
import { tryParseImageReference, type Candidate } from '../model/image-reference.ts';
import { asSeenBy } from '../plan/consent.ts';
import { WaitError, describeError } from '../model/errors.ts';
import { policyKey, type ImagePolicy } from '../model/image-policy.ts';
import { listFew } from '../model/text.ts';
import { isOlderThanSelected, nextStatus, type ReconcileCause } from '../status/next-status.ts';
import { describeChange, type Outcome, type Postponement } from '../plan/outcome.ts';
import { changedTargets } from '../plan/seen-targets.ts';
import type { AppliedChange } from '../plan/plan-update.ts';
import { pushChanges } from '../plan/push-changes.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';
import { workloadKey } from '../model/workload.ts';
import type { PolicyResult } from '../queue/event-log.ts';
import type { PolicyJob } from '../queue/jobs.ts';
import { isOutdated } from '../status/is-outdated.ts';
import type { Decision, Ports, Report } from './ports.ts';
import { toObject, reportBlocked, reportRepeated } from './report-events.ts';
import { recordForgotten } from './record-changes.ts';
import { reportNotWatched } from './rollouts/report-rollouts.ts';

export type ReportPorts = Pick<Ports, 'report' | 'policies' | 'cluster' | 'queues'>;

/** A failure may be over at the next try, so it is written to the policy's status only when it lasts, or when the status says nothing yet. */
const failuresBeforeStatus = 2;
/** A wait for a registry may be as short, and hundreds of policies may wait for the same registry. */
const shortWaitMs = 5_000;
const registryWaits: ReadonlySet<Reason> = new Set<Reason>(['NotShownYet', 'RegistryThrottled', 'RegistryUnavailable', 'RegistryBusy']);

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
  let isLate = false;
  const isIgnored = outcome.kind === 'ignored' && outcome.changes === undefined;
  const writeStatus = async () => {
    // An ignored push is not written to the status, unless an attempt before had changed something.
    if (isIgnored) return;
    await ports.policies.writeStatus(
      policy,
      (status) => {
        const view = asSeenBy(policy, ports.cluster);
        replaced = status;
        isLate = isOutdated({ status }, outcome, view);
        written = nextStatus({ ...policy, status }, outcome, cause, now, view);
        return written;
      },
      signal,
      cause.eventId,
    );
  };
  const verifiedMs = verifiedAt === undefined || outcome.kind !== 'updated' ? undefined : verifiedAt - Date.parse(cause.receivedAt);
  const result = { ...resultOf(outcome), ...(verifiedMs !== undefined && { verifiedMs }) };
  const complete = withFound(result, outcome.changes, { policy, cause, isOver: outcome.retryAt === undefined }, ports);
  // The next push must not wait behind the report of this one.
  if (!isIgnored) await ports.report.untilPatched?.();
  await Promise.all([writeStatus(), recordResult(policyKey(policy), complete, cause, ports, now)]);
  await recordForgotten({ policy, before: replaced }, { ...outcome, written, cause }, ports);
  // What is later may have been told in part, by a reconcile of another tag or by this one.
  if (isLate || isBehindSelected({ ...policy, status: replaced }, outcome, cause) || showsOthers(replaced, written, outcome))
    await ports.queues.addPolicyJobs([completingJob(policy, now)]);
  // A concurrent reconcile may have reported the outcome already.
  const before = { ...policy, status: replaced };
  reportUpdate(before, written, outcome, ports.report);
  if (outcome.kind === 'stalled') reportStalled(before, outcome, ports);
  else if (outcome.kind === 'waiting') reportWaiting(before, outcome, ports);
  else reportBlocked(before, outcome, ports.report);
  reportNotWatched(policy, outcome, ports);
}

/** Whether an image was applied that is older than the selected one: that one may have run before, and have been replaced by another policy or by a person. */
function isBehindSelected(policy: ImagePolicy, { changes, tag }: Outcome, { isHinted }: ReconcileCause): boolean {
  return isHinted === true && changes !== undefined && tag !== undefined && isOlderThanSelected(policy, tag);
}

/** Whether the status shows what somebody else has set since, and the outcome, of another image, does not say what that means for the selected one. */
function showsOthers(before: PolicyStatus, after: PolicyStatus | undefined, { selection, changes, seen }: Outcome): boolean {
  if (selection !== undefined || changes !== undefined || seen === undefined || before.latest === undefined || after === undefined)
    return false;
  return !isDeepStrictEqual(imagesIn(before), imagesIn(after));
}

function imagesIn({ targets = [] }: PolicyStatus): unknown {
  return targets.map(({ uid, container, image }) => [uid, container, image]);
}

/** The job that completes a status where a report says nothing about the selected image. */
export function completingJob({ namespace, name, uid, generation }: ImagePolicy, now: Date): PolicyJob {
  const receivedAt = now.toISOString();
  return { schema: 1, policy: { namespace, name, uid }, source: 'TargetChange', cause: `outdated:${receivedAt}`, receivedAt, generation };
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
  /** Whether the job is still that of this worker. */
  readonly isOurs: () => Promise<boolean>;
  /** The image that the job was about. */
  readonly hint?: Candidate;
  /** What was changed in spite of the failure. */
  readonly applied?: readonly AppliedChange[];
}

/** Reports that a try failed and what happens next; never throws, because the failure itself matters more. */
export async function reportFailure(
  { policy, key, cause, failures, isLastTry, isOurs, hint, applied = [], signal }: FailedTry,
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
  const kind = isLastTry ? 'failed' : isWait ? 'waiting' : 'retrying';
  const postponement: Postponement = { kind: 'postponed', reason, message, ...(isWait && { until: error.until, ...hint }) };
  // A registry that fails is asked again and again, and meanwhile nothing would be said of a new policy.
  const isSaid = policy?.status.conditions !== undefined || (isShortWait && reason !== 'RegistryUnavailable');
  const needed = isSaid ? failuresBeforeStatus : 0;
  const isLasting = (isWait && !isShortWait) || isLastTry || failures >= needed;
  const isWrittenToStatus = policy !== undefined && (isLasting || saysOtherwise(policy, ports.cluster));
  // Other waits are no failures. A process that stops aborts its attempts, and others repeat them at once.
  const hasFailed = !isWait || (registryWaits.has(error.reason) && (isWrittenToStatus || !isShortWait));
  if (policy !== undefined && hasFailed && !signal.aborted) reportRepeated(policy, reason, message, ports.report);
  const result = { kind, reason, message, ...(applied.length > 0 && { changes: applied.map(toRecorded) }) } as const;
  const results = await Promise.allSettled([
    recordResult(key, withFound(result, applied, { policy, cause, isOver: false }, ports), cause, ports),
    isWrittenToStatus &&
      ports.policies.writeStatus(
        policy,
        // Whether the registry shows an older image says nothing about the one that is selected, and nothing would end that state.
        (status) =>
          hint !== undefined && isOlderThanSelected({ ...policy, status }, hint.tag)
            ? undefined
            : nextStatus({ ...policy, status }, postponement, cause, new Date(ports.cluster.now()), asSeenBy(policy, ports.cluster)),
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

/** The worker that has the job by now may have reported its end, and nothing repeats this try. */
async function completeIfLost(policy: FailedTry['policy'], isOurs: FailedTry['isOurs'], { queues, cluster }: ReportPorts): Promise<void> {
  if (policy !== undefined && !(await isOurs())) await queues.addPolicyJobs([completingJob(policy, new Date(cluster.now()))]);
}

/** Whether the status says that the targets run something else than they do: that must not wait until the failure is over. */
function saysOtherwise(policy: ImagePolicy, cluster: Ports['cluster']): boolean {
  return changedTargets(policy, asSeenBy(policy, cluster), { now: new Date(cluster.now()), withNew: false }).length > 0;
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

export function reportChanges(policy: ImagePolicy, outcome: Pick<Outcome, 'changes'>, cause: ReconcileCause, ports: ReportPorts): void {
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
  { foundAt, ...result }: Result,
  cause: ReconcileCause,
  ports: ReportPorts,
  now = new Date(ports.cluster.now()),
): Promise<void> {
  if (cause.eventId === undefined) return;
  const received = Date.parse(cause.receivedAt);
  const at = Math.min(now.getTime(), Math.max(received, foundAt ?? Infinity));
  await ports.report.eventLog.recordResult(cause.eventId, key, { ...result, at: new Date(at).toISOString(), afterMs: at - received });
}

/** `foundAt`: when an earlier try made the changes, in ms since 1970, where this one made none. */
type Result = Omit<PolicyResult, 'at' | 'afterMs'> & { readonly foundAt?: number };

/**
 * The result with what the push changed in earlier tries, whose reports may never have been written. `isOver`: no other try follows; then a change is the result,
 * unless a user must act.
 */
function withFound(
  result: Result,
  made: readonly AppliedChange[] = [],
  { policy, cause, isOver }: Pick<FailedTry, 'policy' | 'cause'> & { readonly isOver: boolean },
  { cluster }: ReportPorts,
): Result {
  if (policy === undefined || cause.eventId === undefined) return result;
  const changes = pushChanges(policy, cause.eventId, asSeenBy(policy, cluster), made);
  if (changes.length === made.length) return result;
  const complete = { ...result, changes };
  if (!isOver || result.kind === 'stalled') return complete;
  const message = listFew(changes, describeChange);
  if (made.length > 0) return { ...complete, message };
  const foundAt = Math.max(...changes.flatMap(({ at }) => (at === undefined ? [] : [Date.parse(at)])));
  return { ...complete, ...imageOf(changes, result), kind: 'updated', reason: 'Updated', message, foundAt };
}

/** The image that was changed to; the result may be about another one. */
function imageOf(changes: readonly AppliedChange[], { tag, digest }: Result): Pick<Result, 'tag' | 'digest'> {
  const to = tryParseImageReference(changes.at(-1)?.to ?? '');
  if (to?.tag === undefined || to.tag === tag) return { ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
  return { tag: to.tag, ...(to.digest !== undefined && { digest: to.digest }) };
}

function resultOf({ kind, reason, message, tag, digest, changes, retryAt }: Outcome): Result {
  return {
    kind: retryAt === undefined ? kind : 'waiting',
    ...(retryAt === undefined && kind === 'waiting' && { stage: 'guard' }),
    reason,
    message: retryAt === undefined ? message : `${message}; the next try is at ${retryAt.toISOString()}`,
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
    ...(changes !== undefined && { changes: changes.map(toRecorded) }),
  };
}

/** The change without what the workload records of it. */
function toRecorded(change: AppliedChange): AppliedChange {
  const { update: _, ...recorded } = change;
  return recorded;
}
