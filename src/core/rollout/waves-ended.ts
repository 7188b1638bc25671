import { isSameWhole } from '../model/companions.ts';
import type { HistoryEntry, PolicyStatus } from '../model/policy-status.ts';
import { isWaveWait } from '../model/wave-wait.ts';
import { shownImage } from '../plan/past.ts';

/**
 * The changes to an image that is out, where it does not wait for its next wave any more although none has begun: nothing is left that it may change. Empty for
 * any other two statuses.
 */
export function endedWaves(before: PolicyStatus, after: PolicyStatus): readonly HistoryEntry[] {
  const { waiting } = before;
  const { latest, history = [], conditions = [], rollouts } = after;
  if (!isWaveWait(waiting) || isWaveWait(after.waiting) || (rollouts?.progressing ?? 0) > 0) return [];
  const isSuspended = conditions.some(({ reason }) => reason === 'Suspended');
  if (isSuspended || latest === undefined || latest.tag !== waiting.tag || !isSameWhole(latest, waiting)) return [];
  const entries = history.filter((one) => one.trigger !== 'Rollback' && one.tag === waiting.tag && isSameWhole(one, waiting));
  // The rollout of a workload that is not seen any more will have no result.
  const ended = entries.filter((entry) => entry.result !== 'Applied' || shownImage(after, entry) !== undefined);
  return ended.every(({ result }) => result === 'RolledOut') ? ended : [];
}
