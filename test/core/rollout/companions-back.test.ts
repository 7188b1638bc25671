/** A failed rollout takes companions back with the image that they were changed with. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Alongside } from '../../../src/core/model/companions.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { HistoryEntry } from '../../../src/core/model/policy-status.ts';
import { planRollback, refusedRollbacks, rollbacksOf } from '../../../src/core/rollout/automatic-rollback.ts';
import { digestOf, policyOf, workloadOf } from '../model/samples.ts';
import { afterChange, entryOf, image, rolloutOf, viewOf, watchedSpec } from './rollout-samples.ts';

const proxy = 'registry.example.com/shop/proxy';
const alongside: Alongside = {
  images: [{ repository: { registry: 'registry.example.com', path: 'shop/proxy' } }],
  match: 'SameTag',
  withinMs: 1_000,
};
const changed = [{ container: 'proxy', from: `${proxy}:1.2.3`, to: `${proxy}:1.3.0` }];
const failed = (entry: Partial<HistoryEntry> = {}) =>
  entryOf({
    result: 'Failed',
    setDigest: digestOf('e'),
    alongside: changed,
    failure: { against: 'image', reason: 'CrashLoop', message: 'no' },
    ...entry,
  });
const workload = (own = '1.3.0', beside = '1.3.0') =>
  workloadOf(
    {
      web: { image: `${image}:${own}`, imageOwner: 'image-watcher' },
      proxy: { image: `${proxy}:${beside}`, imageOwner: 'image-watcher' },
    },
    { generation: 2, rollout: rolloutOf() },
  );
const policyWith = (entry: HistoryEntry, spec: Partial<PolicySpec> = { alongside }) =>
  policyOf({ spec: watchedSpec('Rollback', spec), status: { history: [entry] } });

test('a failed image and its companions are rolled back in one patch, which records the set that failed', () => {
  const [policy, there] = [policyWith(failed()), workload()];
  const open = rollbacksOf(policy, there, viewOf(there));
  assert.equal(open.length, 1);
  const changes = planRollback(there, open, policy, { ...viewOf(there), at: afterChange(60) }).targets.flatMap((target) => target.changes);
  assert.deepEqual(
    changes.map(({ to, alongside, update }) => [to, alongside?.map(({ from, to }) => [from, to]), update?.failed]),
    [[`${image}:1.2.3`, [[`${proxy}:1.3.0`, `${proxy}:1.2.3`]], digestOf('e')]],
  );
});

test('a companion that somebody has changed since the failed change is not rolled back', () => {
  const [policy, there] = [policyWith(failed()), workload('1.3.0', 'debug')];
  const open = rollbacksOf(policy, there, viewOf(there));
  const changes = planRollback(there, open, policy, { ...viewOf(there), at: afterChange(60) }).targets.flatMap((target) => target.changes);
  assert.deepEqual(
    changes.map(({ to, alongside }) => [to, alongside]),
    [[`${image}:1.2.3`, undefined]],
  );
});

test('a failed change of companions alone is rolled back without changing the image', () => {
  const alone = failed({ from: `${image}:1.3.0`, to: `${image}:1.3.0` });
  const [policy, there] = [policyWith(alone), workload()];
  const open = rollbacksOf(policy, there, viewOf(there)).filter(({ isDone }) => !isDone);
  const changes = planRollback(there, open, policy, { ...viewOf(there), at: afterChange(60) }).targets.flatMap((target) => target.changes);
  assert.deepEqual(
    changes.map(({ from, to, alongside }) => [from === to, alongside?.map((one) => one.to)]),
    [[true, [`${proxy}:1.2.3`]]],
  );
});

test('a rollback is refused if the history names companions that the policy does not have', () => {
  for (const [entry, spec] of [
    [failed(), {}],
    [failed({ alongside: [{ container: 'proxy', from: 'evil.example.com/proxy:1', to: `${proxy}:1.3.0` }] }), { alongside }],
    [failed({ alongside: [{ container: 'proxy', from: `${proxy}:1.2.3`, to: 'registry.example.com/shop/other:1.3.0' }] }), { alongside }],
  ] as const) {
    const [policy, there] = [policyWith(entry, spec), workload()];
    assert.deepEqual(rollbacksOf(policy, there, viewOf(there)), []);
    assert.match(refusedRollbacks(policy, viewOf(there))[0]?.why ?? '', /is no companion of the policy/);
  }
});
