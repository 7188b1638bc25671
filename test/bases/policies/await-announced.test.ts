import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secondLookAfter } from '../../../src/bases/policies/await-announced.ts';
import { createAnnouncements } from '../../../src/service/reconcile/announcements.ts';
import type { BaseJob } from '../../../src/service/queue/jobs.ts';

const now = Date.parse('2026-11-23T12:00:00Z');
const repository = { registry: 'harbor.example.com', path: 'shop/web' };
const ports = {
  registry: {
    headManifest: () => Promise.reject(new Error('asked')),
    announcements: createAnnouncements({ now: () => now, elapsed: () => 0 }),
  },
  cluster: { now: () => now },
};
const policy = { namespace: 'platform', name: 'java', uid: 'u1' };
const common = { schema: 1, policy, receivedAt: new Date(now).toISOString() } as const;

test('a push without a digest, of the base or of an application, leads to a second reconcile after a delay', () => {
  const hint = { tag: 'stable', repository };
  const ofBase: BaseJob = { ...common, source: 'Webhook', cause: 'push:p1', eventId: 'p1', hint };
  const ofApplication: BaseJob = { ...common, source: 'TargetChange', cause: 'image:p2', pushed: repository, hint };
  for (const [job, source] of [
    [ofBase, 'Poll'],
    [ofApplication, 'TargetChange'],
  ] as const) {
    const again = secondLookAfter(job, ports);
    assert.deepEqual([again?.source, again?.pushed, again?.hint], [source, job.pushed, hint]);
    assert.ok(Date.parse(again?.notBefore ?? '') > now);
    assert.equal(again && secondLookAfter(again, ports), undefined, 'once');
  }
});

test('a push with a digest, and a job without a push, lead to no second reconcile', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const job: BaseJob = { ...common, source: 'TargetChange', cause: 'image:p3', pushed: repository };
  assert.equal(secondLookAfter({ ...job, hint: { tag: 'stable', digest, repository } }, ports), undefined);
  assert.equal(secondLookAfter(job, ports), undefined);
});
