import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasWaitedForSignature, nextSignatureCheck } from '../../../src/core/plan/await-signature.ts';
import { digestOf, policyOf, stalledStatus } from '../model/samples.ts';

const rows: readonly (readonly [passedMs: number, pauseMs: number | undefined])[] = [
  [-5_000, 1_000],
  [0, 1_000],
  [3_000, 3_000],
  [40_000, 30_000],
  [299_999, 30_000],
  [300_000, undefined],
];
for (const [passedMs, pauseMs] of rows) {
  test(`${passedMs} ms after its push an unsigned image is ${pauseMs === undefined ? 'given up' : `checked again after ${pauseMs} ms`}`, () => {
    const now = 1_000_000;
    const at = nextSignatureCheck(now - passedMs, now);
    assert.equal(at === undefined ? undefined : at.getTime() - now, pauseMs);
  });
}

test('a policy whose image stayed unsigned for too long does not wait for the same signature again', () => {
  const digest = digestOf('a');
  const [stalled] = stalledStatus('NotSigned').conditions ?? [];
  assert.ok(stalled);
  const status = { conditions: [{ ...stalled, message: `shop/web:1 (${digest}) is not signed`, observedGeneration: 1 }] };
  assert.ok(hasWaitedForSignature(policyOf({ status }), digest));
  assert.ok(!hasWaitedForSignature(policyOf({ status }), digestOf('b')), 'another digest');
  assert.ok(!hasWaitedForSignature(policyOf({ status, generation: 2 }), digest), 'the policy was changed');
  assert.ok(!hasWaitedForSignature(policyOf({ status: {} }), digest), 'it was never looked at');
  assert.ok(!hasWaitedForSignature(policyOf({ status: stalledStatus('NoConsent') }), digest), 'it is stalled by something else');
});
