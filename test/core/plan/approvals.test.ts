/** Which approvals of several people count, by a clock that the test sets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalRound } from '../../../src/core/model/approval-round.ts';
import type { ApprovalRules } from '../../../src/core/model/image-policy.ts';
import { approvalTime, type NamedApproval } from '../../../src/core/model/named-approvals.ts';
import { type Approvable, countApprovals, describeCount } from '../../../src/core/plan/approvals.ts';
import { digestOf } from '../model/samples.ts';

const image = { tag: '1.3.0', digest: digestOf('b') };
const rules: ApprovalRules = { count: 2, withinMs: 48 * 3_600_000, notByAuthor: false };
const start = Date.parse('2026-03-01T12:00:00Z');
const after = (hours: number) => new Date(start + hours * 3_600_000);
const round: ApprovalRound = { ...image, since: after(0).toISOString(), generation: 1, required: 2 };
const by = (user: string, hours: number, more: Partial<NamedApproval> = {}): NamedApproval => ({
  ...image,
  user,
  at: after(hours).toISOString(),
  ...more,
});
/** What the service has recorded of an approval: when it was given, and when it was seen. */
const seen = (user: string, hours: number, seenAt = hours) => ({
  user,
  at: after(hours).toISOString(),
  seenAt: after(seenAt).toISOString(),
});

interface Given {
  readonly approvals: readonly NamedApproval[];
  readonly round?: ApprovalRound | undefined;
  readonly rules?: Partial<ApprovalRules>;
  readonly policy?: Partial<Approvable>;
  /** The time of the count, in hours; 2 unless given. */
  readonly at?: number;
}

function count({ approvals, rules: other, policy, at = 2, ...given }: Given) {
  const own = 'round' in given ? given.round : round;
  const asked: Approvable = {
    spec: { approvals: { ...rules, ...other } },
    generation: 1,
    actions: { approvals },
    status: { ...(own && { approvals: own }) },
    ...policy,
  };
  const found = countApprovals(asked, image, after(at));
  assert.ok(found);
  return found;
}

const rows: [about: string, given: Given, expected: string][] = [
  ['nobody', { approvals: [] }, '0 of 2 approvals'],
  ['one', { approvals: [by('ada', 1)] }, '1 of 2 approvals (ada), until 2026-03-03T13:00:00.000Z'],
  ['two', { approvals: [by('ada', 1), by('bob', 2)] }, 'enough: ada, bob'],
  ['one who is enough', { approvals: [by('ada', 1)], rules: { count: 1 } }, 'enough: ada'],
  [
    'two within the time',
    { approvals: [by('ada', 1), by('bob', 48)], round: { ...round, given: [seen('ada', 1)] }, at: 48 },
    'enough: ada, bob',
  ],
  [
    'two who are too far apart',
    { approvals: [by('ada', 1), by('bob', 49)], round: { ...round, given: [seen('ada', 1)] }, at: 49 },
    '1 of 2 approvals (bob), until 2026-03-05T13:00:00.000Z; the approval of ada was given too long ago',
  ],
  [
    'enough of three, of whom one was too early',
    { approvals: [by('ada', 1), by('bob', 50), by('cy', 60)], round: { ...round, given: [seen('ada', 1), seen('bob', 50)] }, at: 60 },
    'enough: bob, cy',
  ],
  [
    'one who has turned back his own clock',
    { approvals: [by('ada', 1), by('bob', 2)], round: { ...round, given: [seen('ada', 1)] }, at: 60 },
    '0 of 2 approvals; the approval of ada was given too long ago; the approval of bob was given too long ago',
  ],
  [
    'two who were enough before, while the image waits for something else',
    {
      approvals: [by('ada', 1), by('bob', 2)],
      round: { ...round, given: [seen('ada', 1), seen('bob', 2)] },
      at: 500,
    },
    'enough: ada, bob',
  ],
  [
    'one who names a time in the future',
    { approvals: [by('ada', 1), by('bob', 3)] },
    '1 of 2 approvals (ada), until 2026-03-03T13:00:00.000Z; the approval of bob names a time in the future',
  ],
  [
    'one who approved before the image waited',
    { approvals: [by('ada', -1), by('bob', 1)] },
    '1 of 2 approvals (bob), until 2026-03-03T13:00:00.000Z; the approval of ada was given before this image waited, or before the policy was changed',
  ],
  [
    'an image that does not wait yet',
    { approvals: [by('ada', 1)], round: undefined },
    '0 of 2 approvals; the approval of ada was given before this image waited, or before the policy was changed',
  ],
  [
    'a policy that was changed since',
    { approvals: [by('ada', 1)], policy: { generation: 2 } },
    '0 of 2 approvals; the approval of ada was given before this image waited, or before the policy was changed',
  ],
  [
    'another digest',
    { approvals: [by('ada', 1), by('bob', 1, { digest: digestOf('c') })] },
    '1 of 2 approvals (ada), until 2026-03-03T13:00:00.000Z',
  ],
  [
    'another tag of the digest',
    { approvals: [by('ada', 1), by('bob', 1, { tag: '1.3' })] },
    '1 of 2 approvals (ada), until 2026-03-03T13:00:00.000Z',
  ],
  [
    'the author of the policy',
    { approvals: [by('ada', 1), by('bob', 2)], rules: { notByAuthor: true }, policy: { editedBy: 'bob' } },
    '1 of 2 approvals (ada), until 2026-03-03T13:00:00.000Z; the approval of bob is that of who last changed the policy',
  ],
  ['the author of the policy, who counts', { approvals: [by('ada', 1), by('bob', 2)], policy: { editedBy: 'bob' } }, 'enough: ada, bob'],
  [
    'a policy that does not name its author',
    { approvals: [by('ada', 1)], rules: { notByAuthor: true } },
    '0 of 2 approvals; the approval of ada cannot count, because the policy does not say who last changed it',
  ],
];

for (const [about, given, expected] of rows)
  test(`approvals are counted correctly in the case "${about}"`, () => {
    const found = count(given);
    assert.equal(found.isEnough ? `enough: ${found.counted.map(({ user }) => user).join(', ')}` : describeCount(found), expected);
  });

test('an approval ends at the time that is shown, to the millisecond', () => {
  const until = Date.parse(count({ approvals: [by('ada', 1)] }).until ?? '');
  const hours = (time: number) => (time - start) / 3_600_000;
  const shown = { ...round, given: [seen('ada', 1)] };
  assert.equal(count({ approvals: [by('ada', 1)], round: shown, at: hours(until - 1) }).counted.length, 1);
  assert.equal(count({ approvals: [by('ada', 1)], round: shown, at: hours(until) }).counted.length, 0);
});

test('approvals are not counted for a policy that does not ask for several people', () => {
  assert.equal(countApprovals({ spec: {}, actions: { approvals: [by('ada', 1)] } }, image, after(2)), undefined);
});

test('an approval is never dated before the image began to wait, whatever the clock of its author', () => {
  assert.equal(approvalTime({ approvals: round }, after(-3)), round.since);
  assert.equal(approvalTime({ approvals: round }, after(3)), after(3).toISOString());
  assert.equal(approvalTime({}, after(-3)), after(-3).toISOString());
});
