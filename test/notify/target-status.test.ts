/** The status of a NotificationTarget. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TargetReason } from '../../src/core/model/notification-target.ts';
import { isCheckDue, nextTargetStatus, readyOf } from '../../src/notify/target-status.ts';

const at = new Date('2026-11-23T12:00:00Z');
const later = new Date('2026-11-23T13:00:00Z');
const stateOf = (reason: TargetReason) => ({ reason, message: `because of ${reason}` });
const statusOf = (reason: TargetReason) => nextTargetStatus({}, 1, stateOf(reason), at);

describe('the status of a NotificationTarget', () => {
  for (const [reason, status] of [
    ['Configured', 'True'],
    ['Delivered', 'True'],
    ['Suspended', 'True'],
    ['NotAccepted', 'False'],
    ['SecretNotUsable', 'False'],
    ['HostNotAllowed', 'False'],
    ['TooManyTargets', 'False'],
    ['InvalidTarget', 'False'],
  ] as const)
    it(`is Ready ${status} with the reason ${reason}`, () => {
      const ready = readyOf(statusOf(reason));
      assert.deepEqual([ready?.status, ready?.reason, ready?.message], [status, reason, `because of ${reason}`]);
    });

  it('keeps the transition time of its condition while its status is unchanged, and conditions of others always', () => {
    const other = { type: 'Other', status: 'True', reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' } as const;
    const before = { ...statusOf('Configured'), conditions: [...(statusOf('Configured').conditions ?? []), other] };
    const delivered = nextTargetStatus(before, 1, stateOf('Delivered'), later);
    assert.equal(readyOf(delivered)?.lastTransitionTime, '2026-11-23T12:00:00Z');
    const refused = nextTargetStatus(delivered, 1, stateOf('NotAccepted'), later);
    assert.equal(readyOf(refused)?.lastTransitionTime, '2026-11-23T13:00:00Z');
    assert.deepEqual(refused.conditions?.slice(1), [other]);
  });

  it('stays Delivered when the target is checked again, until its spec changes', () => {
    const delivered = statusOf('Delivered');
    assert.equal(nextTargetStatus(delivered, 1, stateOf('Configured'), later), delivered);
    assert.equal(readyOf(nextTargetStatus(delivered, 2, stateOf('Configured'), later))?.reason, 'Configured');
  });

  it('is checked again after a change of the spec, and while its cause may be corrected in other objects', () => {
    assert.ok(isCheckDue({}, 1) && isCheckDue(statusOf('Delivered'), 2));
    for (const reason of ['SecretNotUsable', 'HostNotAllowed', 'TooManyTargets'] as const)
      assert.ok(isCheckDue(statusOf(reason), 1), reason);
    for (const reason of ['Delivered', 'NotAccepted', 'InvalidTarget'] as const) assert.ok(!isCheckDue(statusOf(reason), 1), reason);
  });
});
