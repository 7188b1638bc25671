/** What is recorded of notices and of requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { activityOf, activitySchema, newRequests, type Requestable } from '../../../src/core/model/activity.ts';
import type { Notice } from '../../../src/core/model/notice.ts';
import { digestOf } from './samples.ts';

const now = new Date('2026-11-28T12:00:00.000Z');
const policy: Requestable = { namespace: 'shop', name: 'web', uid: 'u1' };
const rollbackTo = 'previous 2026-11-28T11:59:59Z';
const subject = { kind: 'ImagePolicy', namespace: 'shop', name: 'web' } as const;

test('a new request is recorded with who made it and why', () => {
  const after = { ...policy, actions: { rollbackTo }, requested: { action: 'rollback', user: 'ada', reason: 'payments fail' } } as const;
  const [found, ...others] = newRequests('ImagePolicy', policy, after, now);
  assert.deepEqual(others, []);
  assert.deepEqual(found?.activity, {
    type: 'action',
    at: '2026-11-28T12:00:00.000Z',
    action: 'rollback',
    subject,
    value: rollbackTo,
    user: 'ada',
    why: 'payments fail',
  });
  assert.equal(activitySchema.safeParse(found?.activity).success, true);
});

test('an action that a policy had before, or that is removed, is not recorded as a new request', () => {
  const before = { ...policy, actions: { rollbackTo, approve: `1.0.0@${digestOf('a')}` } };
  assert.deepEqual(newRequests('ImagePolicy', before, before, now), []);
  assert.deepEqual(newRequests('ImagePolicy', before, policy, now), []);
});

test('a new request does not get the user who is named for another request of the policy', () => {
  const requested = { action: 'approve', user: 'ada' } as const;
  const before = { ...policy, actions: { approve: `1.0.0@${digestOf('a')}` }, requested };
  const found = newRequests('ImagePolicy', before, { ...before, actions: { ...before.actions, requestedAt: '1' } }, now);
  assert.deepEqual(
    found.map(({ activity }) => [activity.type === 'action' && activity.action, 'user' in activity]),
    [['check', false]],
  );
});

test("a rollback that the service asks of a child policy is not recorded as a person's request, and one of a user is", () => {
  const child = { ...policy, parent: { name: 'java' } };
  const after = { ...child, actions: { rollbackTo } };
  assert.deepEqual(newRequests('ImagePolicy', child, after, now), []);
  assert.equal(newRequests('ImagePolicy', child, { ...after, requested: { action: 'rollback', user: 'ada' } }, now).length, 1);
});

test('every replica gives the same request the same id, and another request gets another id', () => {
  const idOf = (value: string) => newRequests('ImagePolicy', policy, { ...policy, actions: { rollbackTo: value } }, now)[0]?.id;
  assert.equal(idOf('1.0.0 a'), idOf('1.0.0 a'));
  assert.notEqual(idOf('1.0.0 a'), idOf('1.0.0 b'));
});

test('a notice is recorded without the fields that only messages need, under the id of the notice', () => {
  const notice: Notice = {
    kind: 'RolledBack',
    subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'web', uid: 'u1' },
    at: '2026-11-28T12:00:00Z',
    tag: '1.4.1',
    from: ['r/shop/web:1.4.2'],
    workloads: ['Deployment shop/web'],
    reason: 'RolloutFailed',
    message: 'x'.repeat(2_000),
    nextStep: 'push a newer image',
    eventId: 'e1',
  };
  const [one, same] = [notice, { ...notice, at: '2026-11-28T12:00:01Z' }].map((it) =>
    activityOf({ notice: it, identity: ['u1', 'RolledBack'] }),
  );
  assert.equal(one?.id, same?.id);
  assert.equal(activitySchema.safeParse(one?.activity).success, true);
  assert.deepEqual(
    { ...one?.activity, message: undefined },
    {
      type: 'change',
      kind: 'RolledBack',
      subject,
      at: notice.at,
      tag: '1.4.1',
      from: notice.from,
      workloads: notice.workloads,
      reason: 'RolloutFailed',
      message: undefined,
      event: 'e1',
    },
  );
});

test('each new approval of a policy with several approvers is recorded once, as an action of its author', () => {
  const approval = (user: string, reason?: string) => ({
    tag: '1.4.2',
    digest: digestOf('a'),
    at: '2026-11-28T11:59:00Z',
    user,
    ...(reason !== undefined && { reason }),
  });
  const approvedBy = (...approvals: ReturnType<typeof approval>[]) => ({ ...policy, actions: { approvals } });
  const found = newRequests('ImagePolicy', approvedBy(approval('ada')), approvedBy(approval('ada'), approval('bob', 'tested')), now);
  assert.deepEqual(
    found.map(({ activity }) => activity),
    [{ type: 'action', at: now.toISOString(), action: 'approve', subject, value: `1.4.2@${digestOf('a')}`, user: 'bob', why: 'tested' }],
  );
  assert.equal(activitySchema.safeParse(found[0]?.activity).success, true);
});

test('the end of a rollout is recorded at the time at which it was found, and a change at the time of the change', () => {
  const [at, foundAt] = ['2026-11-28T12:00:00Z', '2026-11-28T12:10:00Z'];
  const timeOf = (kind: Notice['kind']) =>
    activityOf({ notice: { kind, subject: { ...subject, uid: 'u1' }, at, tag: '1.4.1' }, identity: ['u1', kind] }, foundAt).activity.at;
  assert.deepEqual((['Updated', 'RolledBack', 'RolloutFailed', 'RolledOut'] as const).map(timeOf), [at, at, foundAt, foundAt]);
});
