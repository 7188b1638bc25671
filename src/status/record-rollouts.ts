/** Computes the status after rollouts are found to be done, failed or rolled back. Pure: called again with the newest status after a conflict. */
import type { Rollback } from '../rollout/automatic-rollback.ts';
import { countRollouts, nextCompletion, rolloutStatesOf } from '../rollout/count-rollouts.ts';
import { isOpen, type RolloutOwner, type Rollout } from '../rollout/current-rollouts.ts';
import { isUsable, type ImagePolicy, type RolloutSettings } from '../model/image-policy.ts';
import { tryParseImageReference } from '../model/image-reference.ts';
import type { RolloutEvaluation } from '../rollout/evaluate-rollout.ts';
import { nextConditions } from './next-conditions.ts';
import { isWorthWriting } from './next-status.ts';
import { maxLengths, maxListed, type HistoryEntry, type PolicyStatus, type RejectedImage } from '../model/policy-status.ts';
import { waveReasons } from '../plan/guards/wave.ts';
import { describeWaiting, isPending } from '../plan/pending-candidate.ts';
import { addRejection } from '../plan/rejections.ts';
import type { WorkloadView } from '../model/resolve-target.ts';
import { rolloutConditions } from './condition-states.ts';
import { showChanges } from './target-states.ts';
import { cut, toSeconds } from '../model/text.ts';
import { findContainer, formatWorkload, identityOf, workloadKey } from '../model/workload.ts';

/** The evaluation of one rollout. */
export interface Finding {
  readonly rollout: Rollout;
  readonly evaluation: RolloutEvaluation;
  /** The digests that the registry reports for tags whose digest the history does not know. */
  readonly digests: ReadonlyMap<string, string>;
}

/** Ready conditions with any other reason belong to other reconciles and are not changed. */
const ownReasons: ReadonlySet<string> = new Set(['UpToDate', 'Progressing', 'RolloutFailed', 'RejectedDigest', ...waveReasons]);

/**
 * The status with the results that are now known. Failed images are rejected, unless failures are ignored. An image that rolled out after all is no longer rejected
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
      const recorded = withResult({ ...entry, ...(digest !== undefined && { digest }) }, result);
      if (result === 'RolledOut' && waves !== undefined && rollouts !== undefined) rollouts = { ...rollouts, lastDoneAt: toSeconds(now) };
      history = known === undefined ? withFailure(history, recorded) : history.map((one) => (one === known ? recorded : one));
      if (evaluation.kind === 'done' && !history.some((one) => one.result === 'Failed' && one.digest === digest))
        rejected = rejected.filter((image) => image.digest !== digest || !isDisproved(image, entry));
      const isAtFault = evaluation.kind === 'failed' && settings.onFailure !== 'Ignore' && entry.trigger !== 'Rollback';
      if (isAtFault && digest !== undefined && isTooMuch(digest)) {
        const message = cut(evaluation.message, maxLengths.message);
        rejected = addRejection(rejected, { digest, tag: entry.tag, reason: evaluation.reason, message, at: toSeconds(now) });
      }
    }
  }
  return withLists({ ...status, ...(rollouts !== undefined && { rollouts }) }, { history, rejected });
}

/** On how many workloads a digest has failed, these findings included. */
function countFailures(digest: string, findings: readonly Finding[], failedOn: (digest: string) => ReadonlySet<string>): number {
  const isAbout = ({ rollout, evaluation, digests }: Finding) =>
    evaluation.kind === 'failed' && rollout.entries.some((entry) => (entry.digest ?? digests.get(entry.tag)) === digest);
  return new Set([...failedOn(digest), ...findings.filter(isAbout).map(({ rollout }) => workloadKey(rollout.workload))]).size;
}

/** A rejection is disproved where the failed rollout completes after all, or by a later rollout elsewhere; an earlier rollout elsewhere proves nothing. */
function isDisproved(image: RejectedImage, { result, at }: HistoryEntry): boolean {
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
  const others = rollbacks.filter((rollback) => resultOf(rollback) === undefined && isNew(toRollbackEntry(rollback.entry, history, now)));
  const added = [...open, ...others].map(({ entry }) => toRollbackEntry(entry, history, now));
  const [newest] = added;
  if (newest === undefined) return status;
  const marked = history.map((one) => (open.some(({ entry }) => isSameEntry(one, entry)) ? withResult(one, 'RolledBack') : one));
  const changes = added.map((entry) => ({
    workload: entry,
    container: entry.container,
    image: entry.to,
    message: `rolled back: ${entry.from} failed`,
  }));
  return {
    ...withLists(status, { history: fit([...added.slice(0, maxListed / 2), ...marked]) }),
    ...showChanges(status, changes),
    ...(newest.tag !== '' && { lastAppliedTag: newest.tag }),
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

/** Sets the result of an entry; a refusal that belonged to an earlier result is removed. */
function withResult(entry: HistoryEntry, result: HistoryEntry['result']): HistoryEntry {
  const { rollbackRefused: _, ...others } = entry;
  return { ...others, result };
}

/** The status with the conditions that its rollouts require; undefined if there is nothing to write. */
export function withRolloutConditions(
  policy: Pick<ImagePolicy, 'uid' | 'generation' | 'namespace' | 'spec' | 'status'>,
  found: PolicyStatus,
  view: WorkloadView,
  now: Date,
): PolicyStatus | undefined {
  const recorded = withCompletion({ ...policy, status: found }, view, now);
  const rollouts = rolloutStatesOf({ ...policy, status: recorded }, view, now);
  const counts = countRollouts({ spec: policy.spec, status: recorded }, rollouts, now);
  const changed = counts === undefined ? recorded : { ...recorded, rollouts: counts };
  const ready = policy.status.conditions?.find(({ type }) => type === 'Ready');
  const isOurs = isUsable(policy.spec) && policy.status.observedGeneration === policy.generation && ownReasons.has(ready?.reason ?? '');
  if (!isOurs) return isWorthWriting(policy.status, changed, now) ? changed : undefined;
  const states = rolloutConditions({ spec: policy.spec, status: changed }, rollouts);
  const running = describeRunning(changed, view);
  const { waiting } = changed;
  const pending = isPending(waiting) ? { message: describeWaiting(waiting), pending: { next: waiting } } : { message: running };
  const result = { kind: 'unchanged', reason: 'UpToDate', running, ...pending } as const;
  const isLeft = ready?.reason === 'RejectedDigest' && states.instead === undefined;
  const next = isLeft ? changed : { ...changed, conditions: nextConditions(policy, result, now, states) };
  return isWorthWriting(policy.status, next, now) ? next : undefined;
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

function toRollbackEntry(entry: Rollback['entry'], history: readonly HistoryEntry[], now: Date): HistoryEntry {
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
    at: toSeconds(now),
    result: 'Applied',
  };
}

function describeRunning({ targets = [] }: PolicyStatus, { findWorkload }: WorkloadView): string {
  const runs = targets.flatMap((state) => {
    const workload = findWorkload(state);
    const container = workload && findContainer(workload, state.container ?? '');
    return container === undefined ? [] : [`${formatWorkload(state)} runs ${container.image}`];
  });
  return [...new Set(runs)].join('; ') || 'every workload runs the selected image';
}

/** Omits lists that are empty and were absent before. */
function withLists(status: PolicyStatus, { history, rejected }: Pick<PolicyStatus, 'history' | 'rejected'>): PolicyStatus {
  return {
    ...status,
    ...(history !== undefined && (history.length > 0 || status.history !== undefined) && { history }),
    ...(rejected !== undefined && (rejected.length > 0 || status.rejected !== undefined) && { rejected }),
  };
}
