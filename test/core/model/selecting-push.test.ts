import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectingPush } from '../../../src/core/model/is-triggered.ts';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';

const image = { tag: '1.4.2', digest: 'sha256:new' };
const trigger = { source: 'Webhook', event: 'push', receivedAt: '2026-03-01T12:00:00Z', handledAt: '2026-03-01T12:00:05Z' } as const;
const status = (more: Partial<PolicyStatus> = {}): PolicyStatus => ({
  latest: { ...image, selectedAt: '2026-03-01T12:00:03Z' },
  trigger,
  ...more,
});

test('an image that had to wait is attributed to the push that made the policy select it', () => {
  assert.equal(selectingPush(status(), image, 'Approval'), 'push');
});

test('an image that was not selected because of a push is attributed to no push', () => {
  assert.equal(selectingPush(status(), { ...image, digest: 'sha256:other' }, 'Approval'), undefined);
  assert.equal(selectingPush(status(), { ...image, tag: '1.4.1' }, 'Approval'), undefined);
  assert.equal(selectingPush(status({ trigger: { source: 'Poll', handledAt: trigger.handledAt } }), image, 'Approval'), undefined);
  assert.equal(
    selectingPush(status({ latest: { ...image, selectedAt: '2026-03-01T11:00:00Z' } }), image, 'Approval'),
    undefined,
    'selected before',
  );
  assert.equal(
    selectingPush(status({ latest: { ...image, selectedAt: '2026-03-01T13:00:00Z' } }), image, 'Approval'),
    undefined,
    'selected since',
  );
  assert.equal(selectingPush({}, image, 'Approval'), undefined);
});

test('an image that was applied before is attributed to its push only when it continues after a wait, as in waves', () => {
  const applied: HistoryEntry = {
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
    container: 'web',
    to: 'shop/web:1.4.2',
    ...image,
    trigger: 'Webhook',
    at: '2026-03-01T12:00:04Z',
    result: 'RolledOut',
  };
  assert.equal(selectingPush(status({ history: [applied] }), image, 'WaitOver'), 'push');
  assert.equal(selectingPush(status({ history: [applied] }), image, 'TargetChange'), undefined);
});

test('the trigger of a change to another image since is not that of an image that is applied in waves', () => {
  const entry = { kind: 'Deployment', namespace: 'shop', name: 'web', container: 'web', trigger: 'Webhook', result: 'Applied' } as const;
  const first: HistoryEntry = { ...entry, ...image, to: 'shop/web:1.4.2', at: '2026-03-01T12:00:03Z' };
  const older: HistoryEntry = {
    ...entry,
    name: 'api',
    tag: '1.4.1',
    digest: 'sha256:old',
    to: 'shop/web:1.4.1',
    at: '2026-03-01T12:00:04Z',
  };
  assert.equal(selectingPush(status({ history: [older, first] }), image, 'WaitOver'), undefined);
  assert.equal(selectingPush(status({ history: [first, older] }), image, 'WaitOver'), 'push');
});
