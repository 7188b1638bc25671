/**
 * Where a failed change goes back to: what ran before it or, where that was a change whose rollout had not succeeded when this one followed, what ran before that
 * one. Two bad images in a row then end with the last one that is known to work, not with the first bad one.
 */
import { isSameWhole } from '../model/companions.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import type { HistoryEntry, PolicyStatus } from '../model/policy-status.ts';
import { isRecorded } from './current-rollouts.ts';

/**
 * The failed change with the images to which it is rolled back in `from`. `changes`: those of the policy to the same container, the latest first. `mayGoBack`: whether
 * a change may be rolled back to its `from`; where that is not so of an earlier image, it is not gone back as far.
 */
export function fromLastGood(
  failed: HistoryEntry,
  changes: readonly HistoryEntry[],
  policy: ImagePolicy,
  mayGoBack: (change: HistoryEntry) => boolean,
): HistoryEntry {
  if (!mayGoBack(failed)) return failed;
  let whole = failed;
  let next = failed;
  for (const earlier of changes.filter(({ at }) => Date.parse(at) < Date.parse(failed.at))) {
    if (earlier.to !== whole.from || !isUnproven(earlier, next, policy)) break;
    const longer = joined(earlier, whole);
    if (longer === undefined || longer.from === failed.to || !mayGoBack(longer)) break;
    whole = longer;
    next = earlier;
  }
  return whole;
}

/**
 * Whether a change was followed by another one before its rollout had succeeded. Only the history is believed, because owners of a workload may write its records; of
 * a change that it has no room for, it may say how the image did on other workloads. What has run for longer than a rollout may take counts as good: rollouts may not
 * have been watched then.
 */
function isUnproven(change: HistoryEntry, next: HistoryEntry, { spec, status }: ImagePolicy): boolean {
  // What a rollback has restored had run before, and what it replaced had failed.
  if (!isUsable(spec) || spec.rollout === undefined || change.trigger === 'Rollback') return false;
  const results = resultsOf(change, status);
  if (results.some((result) => result === 'Failed' || result === 'RolledBack')) return true;
  const at = Date.parse(change.at);
  const isSettled = at <= Date.parse(status.rollouts?.settledAt ?? '');
  const isOpen = results.length > 0 && results.every((result) => result === 'Applied');
  return isOpen && !isSettled && Date.parse(next.at) - at < spec.rollout.timeoutMs;
}

/** What the history says of a change or, where it does not hold it, of the changes of other workloads to the same image. */
function resultsOf(change: HistoryEntry, status: PolicyStatus): HistoryEntry['result'][] {
  const isAlike = (one: HistoryEntry) => one.trigger !== 'Rollback' && one.tag === change.tag && isSameWhole(one, change);
  const known = isRecorded(status, change) ? [change] : (status.history ?? []).filter(isAlike);
  return known.map(({ result }) => result);
}

/** Two changes in a row as one; undefined if it is not known what ran before them. */
function joined({ from, alongside: before = [] }: HistoryEntry, change: HistoryEntry): HistoryEntry | undefined {
  if (from === undefined) return undefined;
  const { alongside: after = [] } = change;
  const alongside = [
    ...after.map((one) => ({ ...one, from: before.find(({ container }) => container === one.container)?.from ?? one.from })),
    ...before.filter(({ container }) => !after.some((one) => one.container === container)),
  ];
  return { ...change, from, ...(alongside.length > 0 && { alongside }) };
}
