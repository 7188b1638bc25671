/** What is reported about each change of a status. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { policyNotices } from '../../../src/core/status/policy-notices.ts';
import { watchedSpec } from '../rollout/rollout-samples.ts';
import type { Condition, HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';

const policy = { namespace: 'shop', name: 'web', uid: 'u1' };
const now = '2026-11-23T12:00:00.000Z';
const digest = `sha256:${'a'.repeat(64)}`;
const entry = (name: string, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  kind: 'Deployment',
  namespace: 'shop',
  name,
  container: 'c0',
  from: 'r/shop/web:1.0.0',
  to: 'r/shop/web:1.1.0',
  tag: '1.1.0',
  digest,
  trigger: 'Webhook',
  at: '2026-11-23T11:59:59Z',
  result: 'Applied',
  ...more,
});
const condition = (type: string, reason: string, message = ''): Condition => ({
  type,
  status: 'True',
  reason,
  message,
  lastTransitionTime: now,
});
const counts = (progressing: number, failed = 0) => ({ progressing, done: 0, failed, rolledBack: 0 });
const failed = entry('web', { result: 'Failed' });
const back = entry('web', {
  trigger: 'Rollback',
  tag: '1.0.0',
  to: 'r/shop/web:1.0.0',
  from: 'r/shop/web:1.1.0',
  at: '2026-11-23T11:59:59Z',
});
const rejected = [{ digest, tag: '1.1.0', reason: 'CrashLoop', message: 'the new pods crash', at: now }];
const out = entry('web', { result: 'RolledOut' });
const image = { tag: '1.1.0', digest };

interface Row {
  readonly name: string;
  readonly before: PolicyStatus;
  readonly after: PolicyStatus;
  readonly expected: readonly string[];
}

const rows: readonly Row[] = [
  { name: 'nothing changed', before: { history: [entry('web')] }, after: { history: [entry('web')] }, expected: [] },
  {
    name: 'a fan-out is one notice',
    before: {},
    after: { history: [entry('b'), entry('a')] },
    expected: ['Updated 1.1.0 Deployment shop/a,Deployment shop/b'],
  },
  {
    name: 'two images are two notices',
    before: {},
    after: { history: [entry('b', { tag: '2' }), entry('a')] },
    expected: ['Updated 2 Deployment shop/b', 'Updated 1.1.0 Deployment shop/a'],
  },
  {
    name: 'a failure found afterwards is no update',
    before: {},
    after: { history: [failed] },
    expected: ['RolloutFailed 1.1.0 Deployment shop/web'],
  },
  {
    name: 'a failure, with its reason',
    before: { history: [entry('web')] },
    after: { history: [failed], rejected },
    expected: ['RolloutFailed 1.1.0 Deployment shop/web CrashLoop'],
  },
  { name: 'a known failure', before: { history: [failed] }, after: { history: [failed], rejected }, expected: [] },
  {
    name: 'a rollback',
    before: { history: [failed] },
    after: { history: [back, { ...failed, result: 'RolledBack' }] },
    expected: ['RolledBack 1.0.0 Deployment shop/web'],
  },
  {
    name: 'a rollback, with the reason why the image before it was left',
    before: { history: [failed], rejected },
    after: { history: [back, { ...failed, result: 'RolledBack' }], rejected: [{ ...image, reason: 'CrashLoop', at: now }] },
    expected: ['RolledBack 1.0.0 Deployment shop/web CrashLoop'],
  },
  {
    name: 'the last rollout is complete',
    before: { history: [entry('web')], rollouts: counts(1) },
    after: { history: [out], rollouts: counts(0) },
    expected: ['RolledOut 1.1.0 Deployment shop/web'],
  },
  {
    name: 'one of two rollouts is complete',
    before: { history: [entry('web')], rollouts: counts(2) },
    after: { history: [out], rollouts: counts(1) },
    expected: [],
  },
  {
    name: 'another rollout failed',
    before: { history: [out], rollouts: counts(1) },
    after: { history: [out], rollouts: counts(0, 1) },
    expected: [],
  },
  {
    name: 'another wave follows',
    before: { history: [entry('web')], rollouts: counts(1) },
    after: { history: [out], rollouts: counts(0), waiting: { until: now, reason: 'WavePause' } },
    expected: [],
  },
  {
    name: 'an approval',
    before: {},
    after: { pendingApproval: image, conditions: [condition('ApprovalRequired', 'ApprovalRequired')] },
    expected: ['ApprovalRequired 1.1.0 ApprovalRequired'],
  },
  { name: 'a known approval', before: { pendingApproval: image }, after: { pendingApproval: image }, expected: [] },
  {
    name: 'a stalled policy',
    before: {},
    after: { conditions: [condition('Stalled', 'NoMatchingTag')] },
    expected: ['Blocked  NoMatchingTag'],
  },
  {
    name: 'the same reason',
    before: { conditions: [condition('Stalled', 'NoMatchingTag', 'a')] },
    after: { conditions: [condition('Stalled', 'NoMatchingTag', 'b')] },
    expected: [],
  },
  {
    name: 'another reason',
    before: { conditions: [condition('Stalled', 'NoMatchingTag')] },
    after: { conditions: [condition('Stalled', 'NotSigned')] },
    expected: ['Blocked  NotSigned'],
  },
  {
    name: 'held',
    before: {},
    after: { latest: { ...image, selectedAt: now }, conditions: [condition('Held', 'Held')] },
    expected: ['Blocked 1.1.0 Held'],
  },
  {
    name: 'stalled and held are one',
    before: {},
    after: { conditions: [condition('Stalled', 'NotSigned'), condition('Held', 'Held')] },
    expected: ['Blocked  NotSigned'],
  },
  { name: 'a failed rollout has its own notice', before: {}, after: { conditions: [condition('Stalled', 'RolloutFailed')] }, expected: [] },
  {
    name: 'a rollback has its own notice',
    before: { history: [back] },
    after: { history: [back], conditions: [condition('Stalled', 'RejectedDigest')] },
    expected: [],
  },
];

describe('notices between two statuses', () => {
  for (const { name, before, after, expected } of rows)
    it(`are ${expected.join(' and ') || 'none'} in the case "${name}"`, () => {
      const found = policyNotices(policy, { before, after }, now).map(({ notice: { kind, tag = '', workloads, reason } }) =>
        [kind, tag, ...(workloads ? [workloads.join(',')] : []), ...(reason ? [reason] : [])].join(' '),
      );
      assert.deepEqual(found, expected);
    });

  describe('an interim notice, whose outcome follows,', () => {
    const rolling = { history: [entry('web')], rollouts: counts(1) };
    const interim = (after: PolicyStatus, more: object = {}, before: PolicyStatus = {}) =>
      policyNotices({ ...policy, ...more }, { before, after }, now).map(({ notice }) => `${notice.kind} ${notice.interim ?? false}`);

    it('is an update whose rollout is watched', () => {
      assert.deepEqual(interim(rolling), ['Updated true']);
      assert.deepEqual(interim({ history: [entry('web')] }), ['Updated false']);
    });

    it('is a failure that is rolled back', () => {
      const before = { history: [entry('web')] };
      const after = { history: [failed] };
      assert.deepEqual(interim(after, { spec: watchedSpec('Rollback') }, before), ['RolloutFailed true']);
      for (const other of ['Hold', 'Ignore'] as const)
        assert.deepEqual(interim(after, { spec: watchedSpec(other) }, before), ['RolloutFailed false']);
      const stays = {
        history: [entry('web', { result: 'Failed', rollbackRefused: { reason: 'NoConsent', message: 'withdrawn', at: now } })],
      };
      assert.deepEqual(interim(stays, { spec: watchedSpec('Rollback') }, before), ['RolloutFailed false']);
    });
  });

  it('a notice of a failure counts the workloads, and a notice of a rollback names the image that was left', () => {
    const before = { history: ['web', 'api', 'job'].map((name) => entry(name)) };
    const oneFailed = { history: [failed, ...before.history.slice(1)] };
    const [first] = policyNotices(policy, { before, after: oneFailed }, now);
    assert.deepEqual(first?.notice.share, { count: 1, total: 3 });
    const undone = { history: [back, { ...failed, result: 'RolledBack' as const }, ...before.history.slice(1)] };
    const [second] = policyNotices(policy, { before: oneFailed, after: undone }, now);
    assert.deepEqual([second?.notice.kind, second?.notice.share, second?.notice.undone], ['RolledBack', { count: 1, total: 3 }, digest]);
  });

  it('the notice that a rollback has rolled out names the image that was left, and not why it was, even if an older entry reports it', () => {
    const undone = { ...failed, result: 'RolledBack' as const };
    const older = entry('web', {
      tag: '1.0.0',
      to: 'r/shop/web:1.0.0',
      digest: 'sha256:0',
      result: 'RolledOut',
      at: '2026-11-22T00:00:00Z',
    });
    for (const result of ['Applied', 'RolledOut'] as const) {
      const history = [{ ...back, digest: 'sha256:0', result }, undone, older];
      const [before, after] = [1, 0].map((progressing) => ({ history, rejected, rollouts: counts(progressing) }));
      const [found] = policyNotices(policy, { before: before ?? {}, after: after ?? {} }, now);
      assert.deepEqual([found?.notice.kind, found?.notice.tag, found?.notice.undone], ['RolledOut', '1.0.0', digest]);
      assert.deepEqual([found?.notice.reason, found?.notice.message], [undefined, undefined]);
    }
  });

  it('the notice that an image is out again has the time of its last change and what that replaced, and not those of an earlier one', () => {
    const history = [
      { ...back, at: '2026-11-23T11:00:00Z', result: 'RolledOut' as const },
      { ...failed, at: '2026-11-23T10:59:00Z', result: 'RolledBack' as const },
      { ...back, at: '2026-11-23T09:00:00Z', from: 'r/shop/web:1.2.0', result: 'RolledOut' as const },
    ];
    const [found] = policyNotices(policy, { before: { history, rollouts: counts(1) }, after: { history, rollouts: counts(0) } }, now);
    const { kind, at, from } = found?.notice ?? {};
    assert.deepEqual([kind, at, from], ['RolledOut', '2026-11-23T11:00:00Z', ['r/shop/web:1.1.0']]);
  });

  it('an image that was rejected and released gets no reason when it is applied again, nor when it is out', () => {
    const [first] = policyNotices(policy, { before: { rejected }, after: { rejected, history: [entry('web')] } }, now);
    assert.deepEqual([first?.notice.kind, first?.notice.reason, first?.notice.message], ['Updated', undefined, undefined]);
    const [before, after] = [
      { rejected, history: [entry('web')], rollouts: counts(1) },
      { rejected, history: [out], rollouts: counts(0) },
    ];
    const [second] = policyNotices(policy, { before, after }, now);
    assert.deepEqual([second?.notice.kind, second?.notice.reason, second?.notice.message], ['RolledOut', undefined, undefined]);
  });

  it('a notice from a full history says that there may be more workloads', () => {
    const history = Array.from({ length: 10 }, (_, index) => entry(`web${index}`));
    const [found] = policyNotices(policy, { before: {}, after: { history } }, now);
    assert.equal(found?.notice.hasMore, true);
    assert.equal(found.notice.workloads?.length, 10);
  });

  const push = (event: string, handledAt: string) => ({ trigger: { source: 'Webhook' as const, event, handledAt } });
  const own = push('own', '2026-11-23T11:59:59.500Z');
  const other = push('other', '2026-11-23T12:30:00.500Z');
  const progressing = { ...own, history: [entry('web')], rollouts: counts(1) };
  for (const [name, before, after, writer, expected] of [
    ['an update', {}, { ...own, history: [entry('web')] }, 'own', 'Updated own'],
    ['an update that is found late', {}, { ...other, history: [entry('web')] }, 'own', 'Updated own'],
    ['an update that no push caused', {}, { history: [entry('web')] }, undefined, 'Updated -'],
    ['the end of a rollout', progressing, { ...own, history: [out], rollouts: counts(0) }, undefined, 'RolledOut own'],
    [
      'the end of a rollout that another push finds',
      progressing,
      { ...other, history: [out], rollouts: counts(0) },
      'other',
      'RolledOut own',
    ],
    [
      'the end of an older rollout',
      { ...progressing, ...other },
      { ...other, history: [out], rollouts: counts(0) },
      'other',
      'RolledOut -',
    ],
    ['a failure', progressing, { ...own, history: [failed] }, undefined, 'RolloutFailed own'],
    [
      'a rollback',
      { ...own, history: [failed] },
      { trigger: { source: 'Rollback', handledAt: now }, history: [back, { ...failed, result: 'RolledBack' }] },
      undefined,
      'RolledBack own',
    ],
    ['an approval', {}, { pendingApproval: image }, 'own', 'ApprovalRequired own'],
    ['what blocks', own, { ...own, conditions: [condition('Stalled', 'NotSigned')] }, 'other', 'Blocked other'],
  ] satisfies [string, PolicyStatus, PolicyStatus, string | undefined, string][])
    it(`${name} is about the push that led to it`, () => {
      const found = policyNotices(policy, { before, after }, now, writer).map(
        ({ notice: { kind, eventId = '-' } }) => `${kind} ${eventId}`,
      );
      assert.deepEqual(found, [expected]);
    });

  it('a repeated write has the same identity, although its time differs, and another event has another identity', () => {
    const identityOf = (before: PolicyStatus, after: PolicyStatus, at: string) =>
      policyNotices(policy, { before, after }, at).map(({ identity }) => identity);
    const later = '2026-11-23T12:05:00.000Z';
    const blocked = { conditions: [condition('Stalled', 'NotSigned')] };
    const [earlier, first, again] = [
      entry('web', { to: 'r/shop/web:1.0.0', tag: '1.0.0', at: '2026-11-23T11:00:00Z' }),
      entry('web'),
      entry('web', { at: later }),
    ];
    assert.deepEqual(identityOf({}, { history: [first] }, now), identityOf({}, { history: [again] }, later));
    assert.deepEqual(identityOf({}, blocked, now), identityOf({}, blocked, later));
    assert.notDeepEqual(identityOf({}, { history: [first] }, now), identityOf({ history: [earlier] }, { history: [first, earlier] }, now));
    assert.notDeepEqual(identityOf({}, blocked, now), identityOf({}, { conditions: [condition('Stalled', 'NoMatchingTag')] }, now));
  });
});
