import { actionAnnotations } from '../../model/policy-actions.ts';
import { deadlineOfCheck, type CheckSettings } from '../../model/rollout-check.ts';
import { listFew } from '../../model/text.ts';
import { checksOf, describeRecord, findRecord } from '../check-records.ts';
import type { Guard } from './guard.ts';
import { holdDecision } from './released.ts';

/**
 * Changes nothing before all checks of the phase `before` have passed (`rollout.checks`), nor to an image that a later check has failed, even if it went back for
 * another reason before. Those of the phase `before` begin when no other guard holds the change.
 */
export const checks: Guard = {
  id: 'checks',
  bindsRollback: false,
  check(_, { policy, spec, candidate, now }) {
    const recordOf = (check: CheckSettings) => findRecord(policy, check, candidate, now);
    const found = checksOf(spec, 'before').map((check) => ({ check, record: recordOf(check) }));
    const later = spec.rollout?.onFailure === 'Ignore' ? [] : checksOf(spec, 'during', 'after').map(recordOf);
    const bad = [
      ...found.flatMap(({ record }) => (record?.state === 'Failed' || record?.state === 'TimedOut' ? [record] : [])),
      ...later.flatMap((record) => (record?.state === 'Failed' ? [record] : [])),
    ];
    const [worst] = bad.toSorted((a, b) => Number(b.state === 'Failed') - Number(a.state === 'Failed'));
    if (worst !== undefined) {
      const reason = worst.state === 'Failed' ? 'CheckFailed' : 'CheckTimedOut';
      const message = `${candidate.tag} is not applied: ${listFew(bad, describeRecord)}. Push a better image, or ask again by a release: annotation ${actionAnnotations.release}: "<time>"`;
      return holdDecision({ reason, message }, policy.actions, now);
    }
    const open = found.filter(({ record }) => record?.state !== 'Passed');
    if (open.length === 0) return undefined;
    const names = listFew(open, ({ check }) => check.name);
    const message = open.length === 1 ? `${candidate.tag} waits for the check ${names}` : `${candidate.tag} waits for the checks ${names}`;
    const ends = open.map(({ check, record }) => deadlineOfCheck(check, record ?? { startedAt: now.toISOString() }));
    return { kind: 'waits', reason: 'CheckPending', message, until: new Date(Math.max(...ends, now.getTime() + 1_000)) };
  },
};
