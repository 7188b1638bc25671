import { isDeepStrictEqual } from 'node:util';
import type { Condition, PolicyStatus } from '../model/policy-status.ts';

/** The minimum time between writes of `lastCheckTime` alone. */
const checkTimeStepMs = 60_000;

/** Whether a status differs from the former one. A reconcile without a new result is written at most once a minute. */
export function isWorthWriting(old: PolicyStatus, next: PolicyStatus, now: Date): boolean {
  const { lastCheckTime: oldTime, conditions: oldConditions = [], ...oldRest } = old;
  const { lastCheckTime: nextTime, conditions: nextConditions = [], ...nextRest } = next;
  if (!isDeepStrictEqual(byType(oldConditions), byType(nextConditions)) || !isDeepStrictEqual(oldRest, nextRest)) return true;
  if (nextTime === oldTime) return false;
  // The comparison is false for an unreadable time, which therefore counts as none.
  const isRecent = oldTime !== undefined && now.getTime() - Date.parse(oldTime) < checkTimeStepMs;
  return !isRecent;
}

/** Sorted for the comparison, because the order of conditions has no meaning. */
function byType(conditions: readonly Condition[]): readonly Condition[] {
  return conditions.toSorted((a, b) => (a.type < b.type ? -1 : 1));
}
