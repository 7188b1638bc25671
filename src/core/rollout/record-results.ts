/** The parts of a status that say how rollouts ended: results in the history, rejected images, counts. Pure: called again with the newest status after a conflict. */
import { isSameWhole, wholeDigest } from '../model/companions.ts';
import { defined } from '../model/defined.ts';
import type { HistoryEntry, PolicyStatus, RejectedImage } from '../model/policy-status.ts';
import { maxListed } from '../model/policy-status.ts';
import { maxLengths } from '../model/status-fields.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { tryParseImageReference } from '../model/image-reference.ts';
import type { TargetSnapshot } from '../model/target-snapshot.ts';
import { cut, toSeconds, toTime } from '../model/text.ts';
import { identityOf, workloadKey, type Workload } from '../model/workload.ts';
import { lastChanges, withChange } from '../plan/past.ts';
import { isReleased } from '../plan/guards/released.ts';
import { addRejection, findRejection, isDecision, isRejectionOf } from '../plan/rejections.ts';
import { showChanges } from '../plan/target-states.ts';
import type { RefusedRollback, Rollback } from './automatic-rollback.ts';
import { isOpen } from './current-rollouts.ts';
import type { RolloutEvaluation } from './evaluate-rollout.ts';
import type { Finding } from './examine-rollouts.ts';
import { failedWorkloads } from './wave-progress.ts';

/**
 * The status with the results that are now known. Images that are to blame for a failure are rejected, unless failures are ignored. An image that rolled out after all is no longer rejected
 * once no workload is left on which it failed. Failures that are missing from the history are added to it. With waves, an image is rejected when it has failed on
 * `maxFailures` workloads, those of earlier checks included.
 */
export function recordFindings(policy: ImagePolicy, findings: readonly Finding[], snapshot: TargetSnapshot): PolicyStatus {
  const { spec, status } = policy;
  if (!isUsable(spec) || spec.rollout === undefined) return status;
  const { waves, onFailure } = spec.rollout;
  const { at: now } = snapshot;
  let { history = [], rejected = [], rollouts } = status;
  for (const { rollout, evaluation, digests } of findings) {
    if (evaluation.kind !== 'done' && evaluation.kind !== 'failed') continue;
    const result = evaluation.kind === 'done' ? 'RolledOut' : 'Failed';
    for (const found of rollout.entries) {
      const known = history.find((one) => isSameEntry(one, found));
      const entry = known ?? found;
      if (!isOpen(entry) || entry.result === result || (known === undefined && result === 'RolledOut')) continue;
      const digest = entry.digest ?? digests.get(entry.tag);
      const image = { ...entry, ...defined({ digest }) };
      const failure = evaluation.kind === 'failed' && { failure: failureOf(evaluation) };
      const recorded = withResult({ ...image, ...failure }, result);
      if (result === 'RolledOut' && waves !== undefined && rollouts !== undefined) rollouts = { ...rollouts, lastDoneAt: toTime(now) };
      history = known === undefined ? withFailure(history, recorded) : history.map((one) => (one === known ? recorded : one));
      if (evaluation.kind === 'done' && !history.some((one) => one.result === 'Failed' && isSameWhole(one, image)))
        rejected = rejected.filter((one) => !isRejectionOf(one, image) || !isDisproved(one, entry, policy, now));
      if (onFailure !== 'Ignore' && entry.trigger !== 'Rollback' && isTooMuch(wholeDigest(image), policy, findings, snapshot))
        rejected = withRejection(rejected, recorded, now);
    }
  }
  return withLists({ ...status, ...defined({ rollouts }) }, { history, rejected });
}

/** The status that rejects what is rolled back: also an image whose failure was ignored when it was found, by a policy that was edited since. */
export function rejectRolledBack(policy: ImagePolicy, rollbacks: readonly Rollback[], snapshot: TargetSnapshot): PolicyStatus {
  const { rejected = [] } = policy.status;
  const missing = rollbacks
    .map(({ entry }) => entry)
    .filter((entry) => findRejection(policy.status, entry) === undefined && isTooMuch(wholeDigest(entry), policy, [], snapshot));
  const all = missing.reduce((list, entry) => withRejection(list, entry, snapshot.at), rejected);
  return all === rejected ? policy.status : { ...policy.status, rejected: all };
}

/** The rejected images, with one that is to blame for the failure of a change. */
function withRejection(
  rejected: readonly RejectedImage[],
  { failure, digest, setDigest, tag }: HistoryEntry,
  now: Date,
): readonly RejectedImage[] {
  if (failure?.against !== 'image' || digest === undefined) return rejected;
  const image = { digest, ...defined({ setDigest }), tag };
  return addRejection(rejected, { ...image, reason: failure.reason, message: failure.message, at: toTime(now) });
}

/** Whether an image has failed on as many workloads as reject it for all; without waves, one is enough. */
function isTooMuch(digest: string | undefined, policy: ImagePolicy, findings: readonly Finding[], snapshot: TargetSnapshot): boolean {
  const waves = isUsable(policy.spec) ? policy.spec.rollout?.waves : undefined;
  if (waves === undefined || digest === undefined) return true;
  return countFailures(digest, findings, failedWorkloads(policy, digest, snapshot)) >= waves.maxFailures;
}

/** The number of workloads on which a digest has failed, by these findings or earlier. */
function countFailures(digest: string, findings: readonly Finding[], earlier: ReadonlySet<string>): number {
  const isAbout = ({ rollout, evaluation, digests }: Finding) =>
    evaluation.kind === 'failed' &&
    evaluation.against === 'image' &&
    rollout.entries.some((entry) => (wholeDigest(entry) ?? digests.get(entry.tag)) === digest);
  return new Set([...earlier, ...findings.filter(isAbout).map(({ rollout }) => workloadKey(rollout.workload))]).size;
}

/**
 * The rejection of a failure is disproved where the failed rollout completes after all, and by any rollout after a release. A rollout that began elsewhere before the
 * rejection proves nothing; whether it did is not decided by the times of the two, which may be of different clocks. A user who decided needs no reason.
 */
function isDisproved(image: RejectedImage, { result }: HistoryEntry, { actions }: ImagePolicy, now: Date): boolean {
  if (isDecision(image)) return false;
  return result === 'Failed' || isReleased(new Date(image.at), actions, now);
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

/** How the rollback of one workload ended. */
export type RollbackOutcome = { readonly workload: Workload; readonly rollbacks: readonly Rollback[] } & (
  | { readonly kind: 'back' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
);

/** The status after rollbacks, and after those that were refused. `isNew`: it did not say yet that the earlier images were rolled back to. */
export function recordOutcomes(
  status: PolicyStatus,
  outcomes: readonly RollbackOutcome[],
  refused: readonly RefusedRollback[],
  now: Date,
): { readonly status: PolicyStatus; readonly isNew: boolean } {
  const back = outcomes.flatMap((outcome) => (outcome.kind === 'back' ? outcome.rollbacks : []));
  const recorded = recordRollbacks(status, back, now);
  const failures = [
    ...outcomes.flatMap((outcome) =>
      outcome.kind === 'refused' ? outcome.rollbacks.map(({ entry }) => ({ entry, ...outcome.refusal })) : [],
    ),
    ...refused.map(({ entry, why }) => ({ entry, reason: 'RollbackRefused' as const, why })),
  ];
  const noted = failures.reduce((next, { entry, ...refusal }) => noteNoRollback(next, entry, refusal, now), recorded);
  return { status: noted, isNew: recorded !== status };
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
    if (!isRejectionOf(image, entry) || image.message?.includes(why)) return image;
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

/** The failure of a rollout as an entry of the history. */
export function failureOf({
  against,
  reason,
  message,
}: Extract<RolloutEvaluation, { kind: 'failed' }>): NonNullable<HistoryEntry['failure']> {
  return { against, reason, message: cut(message, maxLengths.message) };
}

/** Whether two entries describe the same change, whatever its result. */
export function isSameEntry(a: HistoryEntry, b: HistoryEntry): boolean {
  return workloadKey(a) === workloadKey(b) && a.container === b.container && a.to === b.to && a.at === b.at;
}

function toRollbackEntry({ entry, at }: Rollback, history: readonly HistoryEntry[], now: Date): HistoryEntry {
  const image = tryParseImageReference(entry.from);
  const before = history.find((one) => one.to === entry.from);
  const digest = image?.digest ?? before?.digest;
  const alongside = entry.alongside?.map(({ container, from, to }) => ({ container, from: to, to: from }));
  return {
    ...identityOf(entry),
    container: entry.container,
    from: entry.to,
    to: entry.from,
    tag: image?.tag ?? before?.tag ?? '',
    ...defined({ digest, alongside }),
    trigger: 'Rollback',
    at: at ?? toTime(now),
    result: 'Applied',
  };
}

/** Omits lists that are empty and were absent before. */
function withLists(status: PolicyStatus, { history, rejected }: PolicyStatus): PolicyStatus {
  return {
    ...status,
    ...(history !== undefined && (history.length > 0 || status.history !== undefined) && lastChanges(history)),
    ...(rejected !== undefined && (rejected.length > 0 || status.rejected !== undefined) && { rejected }),
  };
}
