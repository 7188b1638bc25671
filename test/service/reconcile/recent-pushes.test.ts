import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PushJob } from '../../../src/service/queue/jobs.ts';
import { createRecentPushes } from '../../../src/service/reconcile/recent-pushes.ts';
import { policyOf } from '../../core/model/samples.ts';
import { pushOf, startTime } from './world.ts';

const ago = (ms: number) => new Date(startTime - ms).toISOString();
const ids = (pushes: readonly PushJob[]) => pushes.map(({ id }) => id);

test('the recent pushes that a policy missed are the latest of each tag of its repository since its spec was written', () => {
  const recent = createRecentPushes(() => startTime);
  for (const [id, tag, receivedMs] of [
    ['before', '1.2.0', 11_000],
    ['first', '1.3.0', 9_000],
    ['other', '1.4.0', 8_000],
    ['again', '1.3.0', 7_000],
  ] as const)
    recent.remember(pushOf({ id, tag, receivedAt: ago(receivedMs) }));
  recent.remember(pushOf({ id: 'elsewhere', repository: { registry: 'registry.example.com', path: 'shop/api' } }));
  assert.deepEqual(ids(recent.missedBy(policyOf({ createdAt: ago(10_000) }))), ['other', 'again']);
  assert.deepEqual(ids(recent.missedBy(policyOf({ createdAt: ago(60_000), writtenAt: ago(7_500) }))), ['again']);
});

test('a policy that was written after the pushes, is invalid, or has no known write time has missed none', () => {
  const recent = createRecentPushes(() => startTime);
  recent.remember(pushOf({ receivedAt: ago(5_000) }));
  const problem = { reason: 'InvalidPolicy', message: 'nothing is chosen' } as const;
  const { spec } = policyOf();
  assert.deepEqual(recent.missedBy(policyOf({ createdAt: ago(1_000) })), []);
  assert.deepEqual(recent.missedBy(policyOf({ createdAt: ago(60_000), writtenAt: ago(1_000) })), []);
  assert.deepEqual(recent.missedBy(policyOf()), []);
  if (!('problem' in spec)) assert.deepEqual(recent.missedBy(policyOf({ createdAt: ago(60_000), spec: { problem, scope: spec } })), []);
});

test('recent pushes are remembered for ten minutes, and a bounded number for each repository', () => {
  const recent = createRecentPushes(() => startTime);
  const policy = policyOf({ createdAt: ago(3_600_000) });
  recent.remember(pushOf({ id: 'old', tag: 'old', receivedAt: ago(601_000) }));
  assert.deepEqual(recent.missedBy(policy), []);
  for (let index = 0; index < 100; index++) recent.remember(pushOf({ id: `push-${index}`, tag: `1.0.${index}` }));
  assert.deepEqual(ids(recent.missedBy(policy)).slice(0, 1), ['push-80']);
});
