/** An image of which no wave is left is rolled out, although no rollout has just ended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { endedWaves } from '../../../src/core/rollout/waves-ended.ts';
import { policyNotices } from '../../../src/core/status/policy-notices.ts';
import { digestOf, policyOf } from '../model/samples.ts';

const at = '2026-03-01T12:00:00Z';
const image = { tag: '1.3.0', digest: digestOf('b') };
const out: HistoryEntry = {
  ...image,
  kind: 'Deployment',
  namespace: 'shop',
  name: 'api',
  container: 'web',
  from: 'r/shop/web:1.2.3',
  to: 'r/shop/web:1.3.0',
  trigger: 'Webhook',
  at,
  result: 'RolledOut',
};
const counts = (progressing: number) => ({ done: 1, progressing, failed: 0, rolledBack: 0 });
const before: PolicyStatus = { history: [out], rollouts: counts(0), waiting: { ...image, until: at, reason: 'WavePause' } };
const after: PolicyStatus = { latest: { ...image, selectedAt: at }, history: [out], rollouts: counts(0) };
const suspended = { type: 'Ready', status: 'Unknown', reason: 'Suspended', message: 'suspended', lastTransitionTime: at } as const;

test('an image that waits for no other wave is out on the workloads of the waves before', () => {
  assert.deepEqual(endedWaves(before, after), [out]);
  const [notice] = policyNotices(policyOf(), { before, after }, at);
  assert.deepEqual([notice?.notice.kind, notice?.notice.workloads], ['RolledOut', ['Deployment shop/api']]);
});

test('a workload that is not seen any more does not keep the waves from their end', () => {
  const gone: HistoryEntry = { ...out, name: 'web', result: 'Applied' };
  const history = [gone, out];
  assert.deepEqual(endedWaves({ ...before, history, rollouts: counts(1) }, { ...after, history }), [out]);
  const target = { kind: 'Deployment', namespace: 'shop', name: 'web', container: 'web', image: gone.to, state: 'UpToDate' } as const;
  assert.deepEqual(endedWaves({ ...before, history, rollouts: counts(1) }, { ...after, history, targets: [target] }), []);
});

const others: readonly (readonly [why: string, before: PolicyStatus, after: PolicyStatus])[] = [
  ['it waits for another wave', before, { ...after, waiting: { ...image, until: at, reason: 'WavePending' } }],
  ['it has waited for something else', { ...before, waiting: { ...image, until: at, reason: 'Window' } }, after],
  ['its next wave has begun', before, { ...after, history: [{ ...out, name: 'web', result: 'Applied' }, out], rollouts: counts(1) }],
  ['a wave has failed', before, { ...after, history: [{ ...out, name: 'web', result: 'Failed' }, out] }],
  ['another image is selected', before, { ...after, latest: { tag: '1.4.0', digest: digestOf('c'), selectedAt: at } }],
  ['its policy is suspended', before, { ...after, conditions: [suspended] }],
];
for (const [why, earlier, later] of others)
  test(`the waves of an image have not ended without a rollout where ${why}`, () => assert.deepEqual(endedWaves(earlier, later), []));
