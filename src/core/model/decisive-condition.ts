import type { Condition } from './policy-status.ts';

/** The types of conditions that replace Ready as what a reader should know first, the most urgent first: somebody must act, then it goes on by itself, then it stays. */
const urgent = ['Stalled', 'ApprovalRequired', 'Reconciling', 'Held'];

type Told = Pick<Condition, 'type' | 'status' | 'reason'>;

/**
 * The condition that every view shows first; the reason of Ready is always that of this condition, so that whoever reads Ready alone (a printer column, a metric)
 * says the same. A suspended policy is only that: what else is true of it waits until it acts again.
 */
export function decisiveCondition<T extends Told>(conditions: readonly T[]): T | undefined {
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready?.reason === 'Suspended') return ready;
  return urgent.map((type) => trueOf(conditions, type)).find((found) => found !== undefined) ?? ready;
}

/**
 * The condition that says how the last reconcile ended, whatever guards keep back besides: what is retried or stalled by that reason, or Ready.
 */
export function resultCondition<T extends Told>(conditions: readonly T[]): T | undefined {
  return trueOf(conditions, 'Stalled') ?? trueOf(conditions, 'Reconciling') ?? conditions.find(({ type }) => type === 'Ready');
}

/** What is said of a policy whose status says nothing. */
export const notReconciledYet =
  'not reconciled yet: no worker runs (image-watcher doctor), its namespace is not selected (image-watcher check --server URL), or its first attempt failed and is repeated';

function trueOf<T extends Told>(conditions: readonly T[], wanted: string): T | undefined {
  return conditions.find(({ type, status }) => type === wanted && status === 'True');
}
