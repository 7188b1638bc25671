/** Who asked for a change, and why, from the record of activity. Pure. */
import type { z } from 'zod';
import type { ActivityEntry } from '../../service/api/activity-view.ts';
import type { getPolicy } from '../../service/api/routes/policies.ts';

export type Change = NonNullable<z.output<(typeof getPolicy)['answer']>['status']['history']>[number];
export type Action = Extract<ActivityEntry, { type: 'action' }>;

/** How long after a request a change still follows from it: requests are handled within seconds, or after an outage. */
const maxDelayMs = 600_000;

/** Whether somebody let an image go that waited. */
const isDecision = (action: Action['action']) => action === 'approve' || action === 'promote';

/** The requests that led to a change, the latest first: every approval and promotion of its image, or the rollback or check right before it. `actions`: those of its policy, the latest first. */
export function requestsFor(change: Pick<Change, 'trigger' | 'at' | 'tag' | 'digest'>, actions: readonly Action[]): readonly Action[] {
  // The history may have whole seconds.
  const before = actions.filter(({ at }) => Date.parse(at) <= Date.parse(change.at) + 999);
  const latest = (name: Action['action']) =>
    before.filter(({ action, at }) => action === name && Date.parse(change.at) - Date.parse(at) <= maxDelayMs).slice(0, 1);
  switch (change.trigger) {
    case 'Approval':
      return before.filter(({ action, value }) => isDecision(action) && value?.split(' ')[0] === `${change.tag}@${change.digest}`);
    case 'Rollback':
      return latest('rollback');
    case 'Request':
      return latest('check');
    default:
      return [];
  }
}
