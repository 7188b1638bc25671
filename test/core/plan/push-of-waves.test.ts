/** The next wave of an image is that of the push that has brought it, whatever was pushed in between. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LastUpdate } from '../../../src/core/model/last-update.ts';
import { pushOfWaves } from '../../../src/core/plan/push-changes.ts';
import { digestOf, policyOf, workloadOf } from '../model/samples.ts';

const candidate = { tag: '1.3.0', digest: digestOf('b') };
const policy = policyOf({ status: { waiting: { ...candidate, until: '2026-03-01T13:00:00Z', reason: 'WavePause' } } });
const update: LastUpdate = {
  policy: policy.uid,
  at: '2026-03-01T12:00:00Z',
  trigger: 'Webhook',
  from: 'registry.example.com/shop/web:1.2.3',
  to: 'registry.example.com/shop/web:1.3.0',
  digest: candidate.digest,
  event: 'push',
};
const planOf = (lastUpdate: LastUpdate) => {
  const workload = workloadOf({ web: { image: lastUpdate.to, lastUpdate } });
  return { candidate, targets: [{ target: workload, workload, changes: [], unchanged: [] }] };
};

test('the push of an image in waves is the one that workloads of earlier waves record', () => {
  assert.equal(pushOfWaves(planOf(update), policy), 'push');
  assert.equal(pushOfWaves(planOf(update), policyOf()), undefined, 'the image does not wait for a wave');
  for (const other of [
    { ...update, policy: 'another' },
    { ...update, digest: digestOf('c') },
    { ...update, to: 'registry.example.com/shop/web:1.2.9' },
  ])
    assert.equal(pushOfWaves(planOf(other), policy), undefined);
});
