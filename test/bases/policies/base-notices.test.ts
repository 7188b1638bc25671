/** What is reported about each change of the status of a BaseImagePolicy. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baseNotices } from '../../../src/bases/policies/base-notices.ts';
import type { BaseStatus } from '../../../src/core/model/base-status.ts';

const policy = { namespace: 'platform', name: 'java', uid: 'u1' };
const now = '2026-11-23T12:00:00Z';
const [first, second] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`) as [string, string];
const entry = (digest: string, result: 'Selected' | 'Rejected' = 'Selected') => ({
  tag: '21',
  digest,
  selectedAt: now,
  requested: 0,
  updated: 0,
  failed: 0,
  result,
});
const images = (current: number, behind: number) => ({ total: current + behind, current, behind, unknown: 0, unrelated: 0 });
const counts = (current: number, behind: number, more: { refused?: number; reported?: number }) => ({
  ...images(current, behind),
  ...more,
});
const dependents = (count: number): NonNullable<BaseStatus['dependents']> =>
  Array.from({ length: count }, (_, index) => ({
    image: `shop/app-${index}:1`,
    state: 'Refused',
    behindSince: now,
    workloads: 1,
    reason: 'UserChanged',
  }));
const statusOf = (digest: string, counts: BaseStatus['images'], more: BaseStatus = {}): BaseStatus => ({
  latest: { tag: '21', digest, selectedAt: now },
  ...(counts && { images: counts }),
  history: [entry(digest)],
  ...more,
});
const waves = (pending: number, progressing: number, done: number, stopped?: string) => ({
  base: second,
  pending,
  progressing,
  done,
  failed: 0,
  ...(stopped !== undefined && { stopped }),
});
const byUser = { digest: first, tag: '21', at: now, reason: 'RejectedByUser', message: 'rejected by ada: breaks the login' };
const round = (given?: NonNullable<BaseStatus['approvals']>['given']) => ({
  tag: '21',
  digest: first,
  since: now,
  generation: 1,
  required: 2,
  ...(given && { given }),
});
const condition = (type: 'Ready' | 'Stalled' | 'Held', reason: string, status: 'True' | 'False' = 'True') => ({
  type,
  status,
  reason,
  message: `because of ${reason}`,
  lastTransitionTime: now,
});
const old = statusOf(first, images(30, 0));
const rejected = [{ digest: second, tag: '21', at: now, message: 'the pods crash' }];

const rows: Readonly<Record<string, { before: BaseStatus; after: BaseStatus; expected: readonly string[] }>> = {
  'nothing changed': { before: old, after: old, expected: [] },
  'a new policy whose images are current': { before: {}, after: old, expected: [] },
  'a new policy with images that are behind': { before: {}, after: statusOf(first, images(1, 2)), expected: ['Updated a'] },
  'a new base is one notice, however many images are behind': {
    before: old,
    after: statusOf(second, images(0, 30)),
    expected: ['Updated b'],
  },
  'some images are still behind': { before: statusOf(second, images(0, 30)), after: statusOf(second, images(29, 1)), expected: [] },
  'the last image is current': {
    before: statusOf(second, images(29, 1)),
    after: statusOf(second, images(30, 0)),
    expected: ['RolledOut b'],
  },
  'the roll-out is over, although some images are refused or only reported': {
    before: statusOf(second, counts(27, 3, { refused: 1, reported: 1 })),
    after: statusOf(second, counts(28, 2, { refused: 1, reported: 1 }), { dependents: dependents(1) }),
    expected: ['RolledOut b'],
  },
  'the last image is given up': {
    before: statusOf(second, counts(28, 2, { refused: 1 })),
    after: statusOf(second, counts(28, 2, { refused: 2 })),
    expected: ['RolledOut b'],
  },
  'some images are refused at once, and others are under way': {
    before: statusOf(second, undefined),
    after: statusOf(second, counts(10, 20, { refused: 5 })),
    expected: [],
  },
  'images are refused and nothing was under way': {
    before: statusOf(second, counts(25, 5, { refused: 5 })),
    after: statusOf(second, counts(26, 4, { refused: 4 })),
    expected: [],
  },
  'nothing is under way, because the base is rejected': {
    before: statusOf(second, images(5, 25), { waves: waves(0, 5, 0), rejected }),
    after: statusOf(second, counts(5, 25, { refused: 25 }), { waves: waves(0, 0, 5), rejected }),
    expected: [],
  },
  'a wave is still rolling out': {
    before: statusOf(second, images(29, 1)),
    after: statusOf(second, images(30, 0), { waves: waves(0, 1, 29) }),
    expected: [],
  },
  'the last wave is done': {
    before: statusOf(second, images(30, 0), { waves: waves(0, 1, 29) }),
    after: statusOf(second, images(30, 0), { waves: waves(0, 0, 30) }),
    expected: ['RolledOut b'],
  },
  'the waves were stopped': {
    before: statusOf(second, images(5, 25), { waves: waves(25, 5, 0) }),
    after: statusOf(second, images(5, 25), { waves: waves(25, 0, 4, 'one failed') }),
    expected: ['RolloutFailed b RolloutFailed: one failed'],
  },
  'the base is rejected, which is one notice': {
    before: statusOf(second, images(5, 25), { waves: waves(25, 5, 0) }),
    after: statusOf(second, images(5, 25), {
      rejected,
      history: [entry(second, 'Rejected')],
      waves: waves(25, 0, 4, 'one failed'),
      conditions: [condition('Stalled', 'BaseRejected')],
    }),
    expected: ['RolloutFailed b BaseRejected: the pods crash'],
  },
  'an approval': {
    before: old,
    after: { ...old, pendingApproval: { tag: '21', digest: second }, conditions: [condition('Ready', 'UpToDate')] },
    expected: ['ApprovalRequired b ApprovalRequired: because of UpToDate'],
  },
  'a base that somebody rejected is one notice': {
    before: { ...old, pendingApproval: { tag: '21', digest: first } },
    after: { ...old, rejected: [byUser], conditions: [condition('Held', 'RejectedByUser')], history: [entry(first, 'Rejected')] },
    expected: ['ApprovalEnded a RejectedByUser: 21 was rejected by ada: breaks the login'],
  },
  'a base that several people would have approved is superseded': {
    before: { ...old, pendingApproval: { tag: '21', digest: first }, approvals: round([{ user: 'ada', at: now, seenAt: now }]) },
    after: { ...old, latest: { tag: '21', digest: second, selectedAt: now }, pendingApproval: { tag: '21', digest: second } },
    expected: [
      'ApprovalRequired b ApprovalRequired: undefined',
      'ApprovalEnded a ApprovalSuperseded: 21 is selected instead of 21, which was not approved; the approvals of ada end',
    ],
  },
  'an approval that ended before there were enough': {
    before: { ...old, pendingApproval: { tag: '21', digest: first }, approvals: round([{ user: 'ada', at: now, seenAt: now }]) },
    after: { ...old, pendingApproval: { tag: '21', digest: first }, approvals: round() },
    expected: ['ApprovalRequired a ApprovalsEnded: the approval of 21 by ada was taken back'],
  },
  'a stalled policy': {
    before: old,
    after: { ...old, conditions: [condition('Stalled', 'NoMatchingTag')] },
    expected: ['Blocked a NoMatchingTag: because of NoMatchingTag'],
  },
  'a policy that is still stalled': {
    before: { ...old, conditions: [condition('Stalled', 'NoMatchingTag')] },
    after: { ...old, conditions: [condition('Stalled', 'NoMatchingTag')] },
    expected: [],
  },
};

describe('notices between two statuses of a BaseImagePolicy', () => {
  for (const [name, { before, after, expected }] of Object.entries(rows))
    it(`are the expected ones for ${name}`, () => {
      const found = baseNotices(policy, { before, after }, now).map(({ notice: { kind, digest, reason, message } }) =>
        [`${kind} ${digest?.at(-1) ?? ''}`, ...(reason === undefined ? [] : [`${reason}: ${message}`])].join(' '),
      );
      assert.deepEqual(found, expected);
    });

  it('count the images, and name some of those that are refused', () => {
    const before = statusOf(second, counts(20, 10, { refused: 9 }));
    const after = statusOf(second, counts(21, 9, { refused: 9 }), {
      dependents: dependents(9),
      conditions: [condition('Ready', 'ImagesBehind')],
    });
    const [found] = baseNotices(policy, { before, after }, now);
    assert.deepEqual(found?.notice.images, { current: 21, behind: 9, refused: 9, unknown: 0 });
    const named = Array.from({ length: 5 }, (_, index) => `shop/app-${index}:1 (UserChanged)`).join(', ');
    assert.equal(found?.notice.message, `because of ImagesBehind; refused: ${named}, and 4 more`);
  });

  it('are about the push that led to them', () => {
    const found = baseNotices(policy, { before: old, after: statusOf(second, images(0, 30)) }, now, 'push-1');
    assert.ok(found.length > 0 && found.every(({ notice }) => notice.eventId === 'push-1'));
  });

  it('have the same identity when a status is written again at another time', () => {
    const identitiesAt = (at: string) =>
      baseNotices(policy, { before: old, after: statusOf(second, images(0, 30)) }, at).map(({ identity }) => identity);
    assert.deepEqual(identitiesAt(now), identitiesAt('2026-11-23T12:05:00Z'));
  });
});
