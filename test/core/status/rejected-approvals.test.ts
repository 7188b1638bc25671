/** What a rejection makes of the approvals of several people. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { Reason } from '../../../src/core/model/reasons.ts';
import type { Outcome } from '../../../src/core/plan/outcome.ts';
import { nextStatus } from '../../../src/core/status/next-status.ts';
import { digestOf, policyOf, specOf } from '../model/samples.ts';
import { cause } from './outcomes.ts';

const image = { tag: '1.3.0', digest: digestOf('a') };
const at = (hours: number) => new Date(Date.parse('2026-03-01T12:00:00Z') + hours * 3_600_000).toISOString();
const approval = { ...image, user: 'bob', at: at(1) };
const spec = specOf({ mode: 'Approval', approvals: { count: 2, withinMs: 48 * 3_600_000, notByAuthor: false } });
const reject = `${image.tag}@${image.digest} ${at(2)}`;

function statusAfter(policy: Partial<ImagePolicy>, hours: number, ...reasons: Reason[]) {
  const blocked = reasons.map((reason) => ({ kind: 'blocked' as const, reason, message: reason, changes: [] }));
  const outcome: Outcome = { kind: 'unchanged', reason: 'UpToDate', message: '', selection: { candidate: image, containers: [] }, blocked };
  const next = nextStatus(policyOf({ spec, ...policy }), outcome, { cause, now: new Date(at(hours)) });
  assert.ok(next);
  return next;
}

test('an approval ends when somebody rejects the image, and does not count after a release', () => {
  const waits = statusAfter({}, 0, 'ApprovalRequired');
  const approved = statusAfter({ status: waits, actions: { approvals: [approval] } }, 1, 'ApprovalRequired');
  assert.deepEqual(
    approved.approvals?.given?.map(({ user }) => user),
    ['bob'],
  );
  const actions = { approvals: [approval], reject };
  const rejected = statusAfter({ status: approved, actions }, 2, 'RejectedDigest');
  assert.deepEqual([rejected.approvals, rejected.rejected?.map(({ reason }) => reason)], [undefined, ['RejectedByUser']]);
  const again = statusAfter({ status: rejected, actions: { ...actions, release: at(3) } }, 3, 'ApprovalRequired');
  assert.deepEqual(
    [again.pendingApproval?.tag, again.approvals?.since, again.approvals?.given, again.approvals?.uncounted],
    ['1.3.0', at(3), undefined, [{ user: 'bob', at: at(1), why: 'Earlier' }]],
  );
});
