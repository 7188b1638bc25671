import { isSameWhole } from '../model/companions.ts';
import type { HistoryEntry, PolicyStatus } from '../model/policy-status.ts';
import { isWaveWait } from '../model/wave-wait.ts';

/**
 * The changes to an image that is out, where it does not wait for its next wave any more although none has begun: nothing is left that it may change. Empty for
 * any other two statuses.
 */
export function endedWaves(before: PolicyStatus, after: PolicyStatus): readonly HistoryEntry[] {
  const { waiting, rollouts } = before;
  const { latest, history = [], conditions = [] } = after;
  if (!isWaveWait(waiting) || isWaveWait(after.waiting) || isOpen(rollouts) || isOpen(after.rollouts)) return [];
  const isSuspended = conditions.some(({ reason }) => reason === 'Suspended');
  if (isSuspended || latest === undefined || latest.tag !== waiting.tag || !isSameWhole(latest, waiting)) return [];
  const entries = history.filter((one) => one.trigger !== 'Rollback' && one.tag === waiting.tag && isSameWhole(one, waiting));
  return entries.every(({ result }) => result === 'RolledOut') ? entries : [];
}

function isOpen(rollouts: PolicyStatus['rollouts']): boolean {
  return (rollouts?.progressing ?? 0) > 0;
}
