import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyOf } from '../../core/model/samples.ts';
import { heldTurns, policies, start } from './enqueuer-world.ts';

test('while images are patched, a changed policy is checked only once afterwards, and a resync goes on', async (t) => {
  // Each policy is a slice of its own.
  let time = 0;
  t.mock.method(performance, 'now', () => (time += 10));
  let patched = Promise.withResolvers<void>();
  const turns = heldTurns();
  const { enqueuer, batches, pass } = start(t, { policies: { all: () => policies(3) }, untilPatched: () => patched.promise, turns });
  const [policy = policyOf()] = policies(1);
  enqueuer.consider(policy);
  await pass(0);
  enqueuer.consider(policy);
  await pass(10_000);
  assert.deepEqual(batches, []);
  patched.resolve();
  await pass(0);
  assert.deepEqual(batches, [['p0']]);
  enqueuer.resync();
  patched = Promise.withResolvers();
  for (let slices = 0; slices < 3; slices++) {
    await pass(0);
    turns.giveOne();
    await pass(0);
  }
  await pass(0);
  assert.deepEqual(batches.slice(1), [['p0'], ['p1'], ['p2']]);
});

test('a resync of many policies adds jobs in parts', async (t) => {
  const { enqueuer, batches, pass } = start(t, { policies: { all: () => policies(1_200) } });
  enqueuer.resync();
  while (new Set(batches.flat()).size < 1_200) await pass(0);
  assert.equal(batches.flat().length, 1_200);
  assert.ok(batches.every(({ length }) => length <= 500));
});

test('a resync reads each policy when its turn comes, and one that is requested during a resync begins anew', async (t) => {
  const stored = new Map(policies(3).map((policy) => [policy.name, policy]));
  // Each policy is a slice of its own.
  let time = 0;
  t.mock.method(performance, 'now', () => (time += 10));
  const turns = heldTurns();
  const { enqueuer, batches, pass } = start(t, { policies: { all: () => stored.values() }, turns });
  const slice = async () => {
    turns.giveOne();
    for (let rounds = 0; rounds < 2; rounds++) await pass(0);
  };
  enqueuer.resync();
  await slice();
  stored.delete('p1');
  stored.set('p3', policyOf({ name: 'p3' }));
  enqueuer.resync();
  enqueuer.resync();
  for (let slices = 0; slices < 20; slices++) await slice();
  assert.deepEqual(batches, [['p0'], ['p2'], ['p3'], ['p0'], ['p2'], ['p3']]);
});

test('a policy that changes all the time and takes long does not stop a resync', async (t) => {
  let clock = 0;
  t.mock.method(performance, 'now', () => clock);
  const busy = policyOf({ namespace: 'tenant', name: 'busy', status: { observedGeneration: 1 } });
  const { enqueuer, batches, pass } = start(t, {
    policies: { all: () => policies(3) },
    cluster: {
      targetState(_target, { namespace }) {
        if (namespace !== busy.namespace) return { since: 0 };
        // Longer than a slice, and changed again meanwhile, as long as another one waits.
        clock += 1_000;
        if (batches.length < 3) enqueuer.consider(busy);
        return { since: 0 };
      },
    },
  });
  enqueuer.consider(busy);
  enqueuer.resync();
  for (let turns = 0; turns < 4; turns++) await pass(0);
  assert.deepEqual(batches.flat(), ['p0', 'p1', 'p2']);
});

test('a resync waits while a push is processed, and the check of a changed policy does not', async (t) => {
  let time = 0;
  t.mock.method(performance, 'now', () => (time += 10));
  const turns = heldTurns();
  const { enqueuer, batches, pass } = start(t, { policies: { all: () => policies(3) }, turns });
  enqueuer.resync();
  await pass(0);
  assert.deepEqual(batches, []);
  enqueuer.consider(policyOf({ name: 'changed' }));
  await pass(0);
  assert.deepEqual(batches, [['changed']]);
  turns.giveOne();
  await pass(0);
  enqueuer.stop();
  turns.giveOne();
  await pass(10_000);
  assert.deepEqual(batches.flat(), ['changed'], 'a stop ends the pass');
});
