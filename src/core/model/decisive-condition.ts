import type { Condition } from './policy-status.ts';

/** The types of conditions that readers should see before Ready, the most urgent first: somebody must act, then it proceeds by itself, then it stays. */
const urgent = ['Stalled', 'ApprovalRequired', 'Reconciling', 'Held'];

type Told = Pick<Condition, 'type' | 'status' | 'reason'>;

/**
 * The condition that every view shows first. The reason of Ready is always that of this condition, so that readers of Ready alone (a printer column, a metric)
 * see the same. A suspended policy shows only that it is suspended.
 */
export function decisiveCondition<T extends Told>(conditions: readonly T[]): T | undefined {
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready?.reason === 'Suspended') return ready;
  return urgent.map((type) => trueOf(conditions, type)).find((found) => found !== undefined) ?? ready;
}

/** The condition with the result of the last reconcile, regardless of blocked changes: Stalled or Reconciling with the reason of the result, or else Ready. */
export function resultCondition<T extends Told>(conditions: readonly T[]): T | undefined {
  return trueOf(conditions, 'Stalled') ?? trueOf(conditions, 'Reconciling') ?? conditions.find(({ type }) => type === 'Ready');
}

/** The text for a policy with an empty status. */
export const notReconciledYet =
  'not reconciled yet: no worker runs (image-watcher doctor), its namespace is not selected (image-watcher check --server URL), or its first attempt failed and is repeated';

function trueOf<T extends Told>(conditions: readonly T[], wanted: string): T | undefined {
  return conditions.find(({ type, status }) => type === wanted && status === 'True');
}
