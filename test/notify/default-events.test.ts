/** Which notices a NotificationTarget gets if it names none. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noticeKinds } from '../../src/core/model/notice.ts';
import type { TargetType } from '../../src/core/model/notification-target.ts';
import { effects } from '../../src/notify/incident.ts';
import { readNotificationTarget } from '../../src/notify/resource/read-target.ts';

/** The kinds of notices that a target gets. */
function eventsOf(type: TargetType, events?: readonly string[]): readonly string[] {
  const secret = { name: 'chat', key: 'url' };
  const { spec } = readNotificationTarget({
    metadata: { namespace: 'shop', name: 'chat', uid: 'u1', resourceVersion: '1' },
    spec: { type, urlSecretRef: secret, ...(type === 'slack' ? {} : { secretRef: secret }), ...(events && { events }) },
  });
  assert.ok(!('problem' in spec), JSON.stringify(spec));
  return spec.events;
}

describe('a target without events', () => {
  it('gets the notices that need action, if people read the target', () =>
    assert.deepEqual(
      noticeKinds.filter((kind) => !eventsOf('slack').includes(kind)),
      ['Updated', 'RolledOut', 'ApprovalEnded', 'Rebased', 'RebuildRequested'],
    ));

  it('gets all notices, if a program reads the target', () => assert.deepEqual(eventsOf('webhook'), noticeKinds));

  for (const type of ['pagerduty', 'opsgenie'] as const)
    it(`gets the notices that open and resolve an incident of ${type}`, () => {
      const kinds = eventsOf(type);
      assert.deepEqual(
        noticeKinds.filter((kind) => effects[kind] !== 'none' && !kinds.includes(kind)),
        [],
      );
    });
});

describe('the events of a target', () => {
  it('are those that the target names', () => assert.deepEqual(eventsOf('slack', ['Updated', 'RolledOut']), ['Updated', 'RolledOut']));

  it('are all with "*", also beside others', () => {
    assert.deepEqual(eventsOf('slack', ['*']), noticeKinds);
    assert.deepEqual(eventsOf('slack', ['Updated', '*']), noticeKinds);
  });
});
