/** What people decide about a base: approvals of several people, and rejections, by a clock that the test sets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BaseImagePolicy, BasePolicySpec } from '../../../src/core/model/base-policy.ts';
import type { BaseStatus } from '../../../src/core/model/base-status.ts';
import type { ApprovalRules } from '../../../src/core/model/image-policy.ts';
import { approvalPrefix, formatApproval, type NamedApproval } from '../../../src/core/model/named-approvals.ts';
import { type PolicyActions, readActions } from '../../../src/core/model/policy-actions.ts';
import { isBaseApproved, newlyEnough, nextDecisions, userRejection } from '../../../src/core/plan/base-decisions.ts';
import { digestOf, specOf } from '../model/samples.ts';

const base = { tag: '21.0.7', digest: digestOf('b') };
const other = { tag: '21.0.6', digest: digestOf('a') };
const rules: ApprovalRules = { count: 2, withinMs: 48 * 3_600_000, notByAuthor: false };
const start = Date.parse('2026-03-01T12:00:00Z');
const after = (hours: number) => new Date(start + hours * 3_600_000);
const at = (hours: number) => after(hours).toISOString();
const by = (user: string, hours: number, image = base): NamedApproval => ({ ...image, user, at: at(hours) });
const round = { ...base, since: at(0), generation: 1, required: 2 };
const seen = (user: string, hours: number, seenAt = hours) => ({ user, at: at(hours), seenAt: at(seenAt) });

interface Written {
  readonly actions?: PolicyActions;
  readonly status?: BaseStatus;
  readonly rules?: Partial<ApprovalRules> | undefined;
  readonly mode?: 'Automatic' | 'Approval';
  readonly more?: Partial<BaseImagePolicy>;
}

function policyOf({ actions = {}, status = { approvals: round }, mode = 'Approval', more, ...given }: Written) {
  const own = 'rules' in given ? given.rules : {};
  const spec: BasePolicySpec = {
    base: specOf({ mode, ...(own && { approvals: { ...rules, ...own } }) }),
    from: [],
    basesBetween: 'Follow',
    workloads: [],
    onNewBase: [{ kind: 'report' }],
    waves: { maxParallel: 5, maxFailures: 1, pauseMs: 0 },
  };
  return { namespace: 'platform', name: 'java', uid: 'u1', generation: 1, resourceVersion: '1', ...more, actions, status, spec };
}

const twice = { [`${approvalPrefix}1`]: formatApproval(by('ada', 1)), [`${approvalPrefix}2`]: formatApproval(by('ada', 2)) };
const both = [by('ada', 1), by('bob', 2)];
const rows: [about: string, written: Written, isApproved: boolean][] = [
  ['nobody has approved it', {}, false],
  ['nobody has to', { mode: 'Automatic', rules: undefined }, true],
  ['one of two has', { actions: { approvals: [by('ada', 1)] } }, false],
  ['one has written two approvals', { actions: readActions(twice) }, false],
  ['two have', { actions: { approvals: both } }, true],
  ['the annotation that names nobody has', { actions: { approve: `${base.tag}@${base.digest}` } }, false],
  ['one has, who is enough', { rules: undefined, actions: { approve: `${base.tag}@${base.digest}` } }, true],
  [
    'one of them has approved another digest',
    { actions: { approvals: [by('ada', 1), by('bob', 2, { ...base, digest: digestOf('c') })] } },
    false,
  ],
  ['one of them has approved another tag', { actions: { approvals: [by('ada', 1), by('bob', 2, { ...base, tag: '21' })] } }, false],
  ['both before it waited', { actions: { approvals: both }, status: { approvals: { ...round, since: at(3) } } }, false],
  ['both before the policy was changed', { actions: { approvals: both }, more: { generation: 2 } }, false],
  ['both, and the status knows nothing', { actions: { approvals: both }, status: {} }, false],
  ['one of them has changed the policy', { actions: { approvals: both }, rules: { notByAuthor: true }, more: { editedBy: 'bob' } }, false],
  ['nobody knows who has changed the policy', { actions: { approvals: both }, rules: { notByAuthor: true } }, false],
  ['somebody else has changed the policy', { actions: { approvals: both }, rules: { notByAuthor: true }, more: { editedBy: 'cy' } }, true],
  ['the first long before the second', { actions: { approvals: [by('ada', -100), by('bob', 2)] } }, false],
  [
    'both in time, long ago',
    { actions: { approvals: both }, status: { approvals: { ...round, since: at(-1), given: [seen('ada', 1), seen('bob', 2)] } }, more: {} },
    true,
  ],
];
for (const [about, written, isApproved] of rows)
  test(`${isApproved ? 'a base is approved' : 'a base waits'}: ${about}`, () => {
    const now = about.endsWith('long ago') ? after(1_000) : after(2);
    assert.equal(isBaseApproved(policyOf(written), base, now), isApproved);
  });

test('approvals that the status shows are not written again, and new ones with the time at which they were seen', () => {
  const policy = policyOf({ actions: { approvals: both } });
  const found = newlyEnough(policy, base, after(2));
  assert.deepEqual(found?.given, [seen('ada', 1, 2), seen('bob', 2)]);
  assert.equal(newlyEnough({ ...policy, status: { approvals: found } }, base, after(3)), undefined);
});

const reject = (image: typeof base, hours: number) => ({ reject: `${image.tag}@${image.digest} ${at(hours)}` });
const requested = { action: 'reject' as const, user: 'ada', reason: 'breaks the login' };
const failed = { ...base, at: at(0), message: 'the pods crash' };

test('the rejection of the selected base is recorded once, with who and why, and ends with a release', () => {
  const actions = reject(base, 1);
  const policy = policyOf({ actions, status: {}, more: { requested } });
  const entry = { ...base, reason: 'RejectedByUser', message: 'rejected by ada: breaks the login', at: at(1) };
  assert.deepEqual(userRejection(policy, base, after(1)), entry);
  const first = nextDecisions(policy, base, { isPending: false, rejected: [] }, after(1));
  assert.deepEqual(first, { lastHandledRejection: actions.reject, rejected: [entry] });
  const known = { ...policy, status: first };
  assert.deepEqual(nextDecisions(known, base, { isPending: false, rejected: [entry] }, after(2)), { rejected: [entry] });
  const released = { ...known, actions: { ...actions, release: at(2) } };
  assert.equal(userRejection(released, base, after(3)), undefined);
  assert.deepEqual(nextDecisions(released, base, { isPending: false, rejected: [entry] }, after(3)), {});
});

test('a rejection that names another base or none has no effect, and one of a failed base leaves it to its rollback', () => {
  for (const actions of [reject(other, 1), reject({ ...base, digest: other.digest }, 1), { reject: 'yes' }, {}]) {
    const policy = policyOf({ actions, status: {} });
    assert.equal(userRejection(policy, base, after(1)), undefined);
    assert.deepEqual(nextDecisions(policy, base, { isPending: false, rejected: [] }, after(1)), {});
  }
  const policy = policyOf({ actions: reject(base, 1), status: { rejected: [failed] } });
  assert.equal(userRejection(policy, base, after(1)), undefined);
  const { rejected, lastHandledRejection } = nextDecisions(policy, base, { isPending: false, rejected: [failed] }, after(1));
  assert.deepEqual([rejected, lastHandledRejection], [[failed], policy.actions.reject]);
});

test('a rejection counts even if another clock dates a release slightly after it', () => {
  const policy = policyOf({ actions: { ...reject(base, 1), release: new Date(after(1).getTime() + 500).toISOString() }, status: {} });
  const { rejected } = nextDecisions(policy, base, { isPending: false, rejected: [] }, after(1));
  assert.equal(rejected?.length, 1);
  assert.ok(userRejection({ ...policy, status: { rejected } }, base, after(2)) !== undefined);
});

test('approvals of a base are recorded from when it waits, and removed when another base is selected', () => {
  const policy = policyOf({ actions: { approvals: [by('ada', 1)] }, status: {} });
  const rejected: never[] = [];
  assert.deepEqual(nextDecisions(policy, base, { isPending: false, rejected }, after(2)), {});
  const begun = nextDecisions(policy, base, { isPending: true, rejected }, after(2));
  assert.deepEqual(begun.approvals, { ...round, since: at(2), uncounted: [{ user: 'ada', at: at(1), why: 'Earlier' }] });
  assert.deepEqual(nextDecisions({ ...policy, status: begun }, other, { isPending: false, rejected }, after(3)), {});
});

test('approvals of a base end when somebody rejects it, and do not count again after a release', () => {
  const actions = { ...reject(base, 2), approvals: [by('ada', 1)] };
  const policy = policyOf({ actions, status: { approvals: { ...round, given: [seen('ada', 1)] } }, more: { requested } });
  const refused = nextDecisions(policy, base, { isPending: true, rejected: [] }, after(2));
  assert.deepEqual([refused.approvals, refused.rejected?.length], [undefined, 1]);
  const released = { ...policy, status: refused, actions: { ...actions, release: at(3) } };
  const begun = nextDecisions(released, base, { isPending: true, rejected: refused.rejected ?? [] }, after(4));
  assert.deepEqual(begun.approvals, { ...round, since: at(4), uncounted: [{ user: 'ada', at: at(1), why: 'Earlier' }] });
});
