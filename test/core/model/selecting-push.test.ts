import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectingPush } from '../../../src/core/model/is-triggered.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';

const image = { tag: '1.4.2', digest: 'sha256:new' };
const trigger = { source: 'Webhook', event: 'push', receivedAt: '2026-03-01T12:00:00Z', handledAt: '2026-03-01T12:00:05Z' } as const;
const status = (more: Partial<PolicyStatus> = {}): PolicyStatus => ({
  latest: { ...image, selectedAt: '2026-03-01T12:00:03Z' },
  trigger,
  ...more,
});

test('an image that had to wait is still that of the push which made the policy select it', () => {
  assert.equal(selectingPush(status(), image), 'push');
});

test('an image that something else made the policy select is that of no push', () => {
  assert.equal(selectingPush(status(), { ...image, digest: 'sha256:other' }), undefined);
  assert.equal(selectingPush(status(), { ...image, tag: '1.4.1' }), undefined);
  assert.equal(selectingPush(status({ trigger: { source: 'Poll', handledAt: trigger.handledAt } }), image), undefined);
  assert.equal(selectingPush(status({ latest: { ...image, selectedAt: '2026-03-01T11:00:00Z' } }), image), undefined, 'selected before');
  assert.equal(selectingPush(status({ latest: { ...image, selectedAt: '2026-03-01T13:00:00Z' } }), image), undefined, 'selected since');
  assert.equal(selectingPush({}, image), undefined);
});
