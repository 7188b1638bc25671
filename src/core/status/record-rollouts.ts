/** Computes the status after rollouts are found to be done, failed or rolled back. Pure: called again with the newest status after a conflict. */
import type { Rollback } from '../rollout/automatic-rollback.ts';
import { countRollouts, nextCompletion, rolloutStatesOf, type RolloutState } from '../rollout/count-rollouts.ts';
import { isOpen, type RolloutOwner, type Rollout } from '../rollout/current-rollouts.ts';
import { resultCondition } from '../model/decisive-condition.ts';
import { isUsable, type ImagePolicy, type RolloutSettings } from '../model/image-policy.ts';
import { tryParseImageReference } from '../model/image-reference.ts';
import type { RolloutEvaluation } from '../rollout/evaluate-rollout.ts';
import { nextConditions, withHeldRollouts } from './next-conditions.ts';
import { isWorthWriting } from './next-status.ts';
import { maxLengths, maxListed, type HistoryEntry, type PolicyStatus, type RejectedImage } from '../model/policy-status.ts';
import { waveReasons } from '../plan/guards/wave.ts';
import { describeWaiting, isPending } from '../plan/pending-candidate.ts';
import { withChange } from '../plan/past.ts';
import type { RetryOwner } from '../plan/retries.ts';
import { addRejection, findRejection } from '../plan/rejections.ts';
import type { WorkloadView } from '../model/resolve-target.ts';
import { retriesOf, rolloutConditions } from './condition-states.ts';
import { showChanges } from './target-states.ts';
import { lastChanges } from './next-history.ts';
import { cut, toSeconds, toTime } from '../model/text.ts';
import { formatWorkload, identityOf, workloadKey } from '../model/workload.ts';

/** The evaluation of one rollout. */
export interface Finding {
  readonly rollout: Rollout;
  readonly evaluation: RolloutEvaluation;
  /** The digests that the registry reports for tags whose digest the history does not know. */
  readonly digests: ReadonlyMap<string, string>;
}

/** Ready conditions with any other reason belong to other reconciles and are not changed. */
const ownReasons: ReadonlySet<string> = new Set([
  'UpToDate',
  'Progressing',
  'RolloutFailed',
  'RejectedDigest',
  'RolloutRetry',
  'RetriesExhausted',
  ...waveReasons,
]);

/**
 * The status with the results that are now known. Images that are to blame for a failure are rejected, unless failures are ignored. An image that rolled out after all is no longer rejected
 * once no workload is left on which it failed. Failures that are missing from the history are added to it. With waves, an image is rejected when it has failed on
 * `maxFailures` workloads; `failedOn` knows those of earlier checks, by digest.
 */
export function recordFindings(
  status: PolicyStatus,
  findings: readonly Finding[],
  settings: RolloutSettings,
  now: Date,
  failedOn: (digest: string) => ReadonlySet<string> = () => new Set(),
): PolicyStatus {
  let { history = [], rejected = [], rollouts } = status;
  const { waves } = settings;
  const isTooMuch = (digest: string) => waves === undefined || countFailures(digest, findings, failedOn) >= waves.maxFailures;
  for (const { rollout, evaluation, digests } of findings) {
    if (evaluation.kind !== 'done' && evaluation.kind !== 'failed') continue;
    const result = evaluation.kind === 'done' ? 'RolledOut' : 'Failed';
    for (const found of rollout.entries) {
      const known = history.find((one) => isSameEntry(one, found));
      const entry = known ?? found;
      if (!isOpen(entry) || entry.result === result || (known === undefined && result === 'RolledOut')) continue;
      const digest = entry.digest ?? digests.get(entry.tag);
      const failure = evaluation.kind === 'failed' && { failure: failureOf(evaluation) };
      const recorded = withResult({ ...entry, ...(digest !== undefined && { digest }), ...failure }, result);
      if (result === 'RolledOut' && waves !== undefined && rollouts !== undefined) rollouts = { ...rollouts, lastDoneAt: toTime(now) };
      history = known === undefined ? withFailure(history, recorded) : history.map((one) => (one === known ? recorded : one));
      if (evaluation.kind === 'done' && !history.some((one) => one.result === 'Failed' && one.digest === digest))
        rejected = rejected.filter((image) => image.digest !== digest || !isDisproved(image, entry));
      const isAtFault = evaluation.kind === 'failed' && evaluation.against === 'image' && entry.trigger !== 'Rollback';
      if (isAtFault && settings.onFailure !== 'Ignore' && digest !== undefined && isTooMuch(digest)) {
        const message = cut(evaluation.message, maxLengths.message);
        rejected = addRejection(rejected, { digest, tag: entry.tag, reason: evaluation.reason, message, at: toTime(now) });
      }
    }
  }
  return withLists({ ...status, ...(rollouts !== undefined && { rollouts }) }, { history, rejected });
}

/** On how many workloads a digest has failed, these findings included. */
function countFailures(digest: string, findings: readonly Finding[], failedOn: (digest: string) => ReadonlySet<string>): number {
  const isAbout = ({ rollout, evaluation, digests }: Finding) =>
    evaluation.kind === 'failed' &&
    evaluation.against === 'image' &&
    rollout.entries.some((entry) => (entry.digest ?? digests.get(entry.tag)) === digest);
  return new Set([...failedOn(digest), ...findings.filter(isAbout).map(({ rollout }) => workloadKey(rollout.workload))]).size;
}

/**
 * The rejection of a failure is disproved where the failed rollout completes after all, or by a later rollout elsewhere; an earlier rollout elsewhere proves nothing. A
 * user who rolled back needs no reason.
 */
function isDisproved(image: RejectedImage, { result, at }: HistoryEntry): boolean {
  if (image.reason === 'RollbackRequested') return false;
  return result === 'Failed' || Date.parse(at) > Date.parse(image.at);
}

/** Inserts a failure by its time; to make room for it, the oldest entries that are not failures are dropped. */
function withFailure(history: readonly HistoryEntry[], failure: HistoryEntry): readonly HistoryEntry[] {
  const place = history.findIndex(({ at }) => Date.parse(at) <= Date.parse(failure.at));
  const longer = place === -1 ? [...history, failure] : history.toSpliced(place, 0, failure);
  return fit(longer);
}

/** Trims the history to what the status may hold: failures are dropped last, and the newest entries are never dropped for them. */
function fit(history: readonly HistoryEntry[]): readonly HistoryEntry[] {
  let left = history;
  while (left.length > maxListed) {
    const spare = left.findLastIndex(({ result }, index) => index >= maxListed / 2 && result !== 'Failed' && result !== 'RolledBack');
    left = left.toSpliced(spare === -1 ? left.length - 1 : spare, 1);
  }
  return left;
}

/** The status after a rollback to the previous images: the failed changes are RolledBack, and each rollback is an entry of its own. */
export function recordRollbacks(status: PolicyStatus, rollbacks: readonly Rollback[], now: Date): PolicyStatus {
  const { history = [] } = status;
  const resultOf = ({ entry }: Rollback) => history.find((one) => isSameEntry(one, entry))?.result;
  const isNew = (entry: HistoryEntry) => !history.some((one) => isSameEntry(one, entry));
  const open = rollbacks.filter((rollback) => resultOf(rollback) === 'Failed');
  // Failed changes that did not fit in the history have no entry to mark.
  const others = rollbacks.filter((rollback) => resultOf(rollback) === undefined && isNew(toRollbackEntry(rollback, history, now)));
  const added = [...open, ...others].map((rollback) => toRollbackEntry(rollback, history, now));
  if (added.length === 0) return status;
  const marked = history.map((one) => (open.some(({ entry }) => isSameEntry(one, entry)) ? withResult(one, 'RolledBack') : one));
  const changes = added.map((entry) => ({
    workload: entry,
    container: entry.container,
    image: entry.to,
    message: `rolled back: ${entry.from} failed`,
  }));
  // What was changed since is later, also where it was reported before.
  const next = added.slice(0, maxListed / 2).reduceRight<readonly HistoryEntry[]>(withChange, marked);
  return {
    ...withLists(status, { history: fit(next) }),
    ...showChanges(status, changes),
    trigger: { source: 'Rollback', handledAt: now.toISOString() },
  };
}

/** What prevents a rollback of a failed change, with a public reason. */
export interface Refusal {
  readonly reason: 'RollbackFailed' | 'RollbackRefused';
  readonly why: string;
}

/** Records why a change is not rolled back, in its history entry and in the rejection of its image. Returns the same status if that is recorded already. */
export function noteNoRollback(status: PolicyStatus, entry: HistoryEntry, { reason, why }: Refusal, now: Date): PolicyStatus {
  const message = cut(why, maxLengths.message);
  const history = (status.history ?? []).map((one) => {
    if (!isSameEntry(one, entry) || one.result !== 'Failed' || one.rollbackRefused?.message === message) return one;
    return { ...one, rollbackRefused: { reason, message, at: one.rollbackRefused?.at ?? toSeconds(now) } };
  });
  const rejected = (status.rejected ?? []).map((image) => {
    if (image.digest !== entry.digest || image.message?.includes(why)) return image;
    return { ...image, message: cut(`${image.message ?? 'failed'}; it is not rolled back: ${why}`, maxLengths.message) };
  });
  const isSame = history.every((one, index) => one === status.history?.[index]);
  if (isSame && rejected.every((image, index) => image === status.rejected?.[index])) return status;
  return withLists(status, { history, rejected });
}

/** Sets the result of an entry; what belonged to an earlier result is removed. */
function withResult(entry: HistoryEntry, result: HistoryEntry['result']): HistoryEntry {
  const { rollbackRefused: _, failure, ...others } = entry;
  return { ...others, result, ...(failure !== undefined && result !== 'RolledOut' && { failure }) };
}

/** A failure as the history records it. */
export function failureOf({
  against,
  reason,
  message,
}: Extract<RolloutEvaluation, { kind: 'failed' }>): NonNullable<HistoryEntry['failure']> {
  return { against, reason, message: cut(message, maxLengths.message) };
}

/** The status with the conditions that its rollouts require; undefined if there is nothing to write. */
export function withRolloutConditions(
  policy: Pick<ImagePolicy, 'uid' | 'generation' | 'namespace' | 'spec' | 'status'> & RetryOwner,
  found: PolicyStatus,
  view: WorkloadView,
  now: Date,
): PolicyStatus | undefined {
  const recorded = withCompletion({ ...policy, status: withoutFailedWait(found) }, view, now);
  const rollouts = rolloutStatesOf({ ...policy, status: recorded }, view, now);
  const counts = countRollouts({ spec: policy.spec, status: recorded }, rollouts, now);
  const counted = counts === undefined ? recorded : { ...recorded, rollouts: counts };
  const told = resultCondition(policy.status.conditions ?? []);
  const isOurs = isUsable(policy.spec) && policy.status.observedGeneration === policy.generation && ownReasons.has(told?.reason ?? '');
  if (!isOurs) {
    const { conditions } = counted;
    const held = conditions && rollouts && rolloutConditions({ ...policy, status: counted }, rollouts, now);
    const beside = held === undefined ? counted : { ...counted, conditions: withHeldRollouts(policy, conditions ?? [], held, now) };
    return isWorthWriting(policy.status, beside, now) ? beside : undefined;
  }
  const changed = withRetry({ ...policy, status: counted }, rollouts, now);
  const states = rolloutConditions({ ...policy, status: changed }, rollouts, now);
  const running = describeRunning(changed);
  const { waiting } = changed;
  const result = isPending(waiting)
    ? ({ kind: 'waiting', reason: waiting.reason, message: describeWaiting(waiting), running, pending: { next: waiting } } as const)
    : ({ kind: 'unchanged', reason: 'UpToDate', message: running, running } as const);
  const isLeft = (told?.reason === 'RejectedDigest' || told?.reason === 'RetriesExhausted') && states.instead === undefined;
  const next = isLeft ? changed : { ...changed, conditions: nextConditions(policy, result, now, states) };
  return isWorthWriting(policy.status, next, now) ? next : undefined;
}

/** An image that is rejected waits for nothing: a replica whose cache was behind may have written that it does. */
function withoutFailedWait(status: PolicyStatus): PolicyStatus {
  const { waiting, ...others } = status;
  return isPending(waiting) && findRejection(status, waiting.digest) !== undefined ? others : status;
}

/** The status with the wait for the next try of an image that is not to blame for its failed rollout, unless another image waits. */
function withRetry(policy: Pick<ImagePolicy, 'status'> & RetryOwner, rollouts: readonly RolloutState[], now: Date): PolicyStatus {
  const { status } = policy;
  const { latest, waiting } = status;
  const times = retriesOf(policy, rollouts, now).flatMap(({ until }) => (until === undefined ? [] : [until.getTime()]));
  if (latest === undefined || times.length === 0 || isPending(waiting)) return status;
  const { tag, digest } = latest;
  // Rounded up, so that the wait is over at that time.
  const until = toSeconds(new Date(Math.ceil(Math.min(...times) / 1_000) * 1_000));
  return { ...status, waiting: { tag, ...(digest !== undefined && { digest }), since: toSeconds(now), until, reason: 'RolloutRetry' } };
}

/** The status with the time up to which all changes are complete. */
function withCompletion(policy: RolloutOwner, view: WorkloadView, now: Date): PolicyStatus {
  const { spec, status } = policy;
  if (!isUsable(spec) || spec.rollout === undefined) return status;
  const rollouts = rolloutStatesOf(policy, view, now);
  const counts = countRollouts(policy, rollouts, now);
  const completion = nextCompletion(status, rollouts, spec.rollout);
  if (counts === undefined || completion === undefined || completion.due > now) return status;
  return { ...status, rollouts: { ...counts, settledAt: completion.settledAt } };
}

/** Whether two entries describe the same change, whatever its result. */
export function isSameEntry(a: HistoryEntry, b: HistoryEntry): boolean {
  return workloadKey(a) === workloadKey(b) && a.container === b.container && a.to === b.to && a.at === b.at;
}

function toRollbackEntry({ entry, at }: Rollback, history: readonly HistoryEntry[], now: Date): HistoryEntry {
  const image = tryParseImageReference(entry.from);
  const before = history.find((one) => one.to === entry.from);
  const digest = image?.digest ?? before?.digest;
  return {
    ...identityOf(entry),
    container: entry.container,
    from: entry.to,
    to: entry.from,
    tag: image?.tag ?? before?.tag ?? '',
    ...(digest !== undefined && { digest }),
    trigger: 'Rollback',
    at: at ?? toTime(now),
    result: 'Applied',
  };
}

/** As the status shows the targets: whoever finds that they run something else evaluates them anew. */
function describeRunning({ targets = [] }: PolicyStatus): string {
  const runs = targets.flatMap((state) => (state.image === undefined ? [] : [`${formatWorkload(state)} runs ${state.image}`]));
  return [...new Set(runs)].join('; ') || 'every workload runs the selected image';
}

/** Omits lists that are empty and were absent before. */
function withLists(status: PolicyStatus, { history, rejected }: Pick<PolicyStatus, 'history' | 'rejected'>): PolicyStatus {
  return {
    ...status,
    ...(history !== undefined && (history.length > 0 || status.history !== undefined) && lastChanges(history)),
    ...(rejected !== undefined && (rejected.length > 0 || status.rejected !== undefined) && { rejected }),
  };
}
