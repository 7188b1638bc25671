import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createConsentListener } from '../../../src/service/reconcile/enqueue/enqueue-new-targets.ts';
import { createTurns } from '../../../src/core/async/turns.ts';
import { createEnqueuer } from '../../../src/service/reconcile/enqueue/enqueuer.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';
import { createWorld } from './world.ts';

const inShop = (name: string, namespace = 'platform'): ImagePolicy =>
  policyOf({ namespace, name, spec: specOf({ targets: [{ kind: 'Deployment', namespace: 'shop', name: 'web' }] }) });

/** The listener over these policies; what it had considered, by name, and the turns of the event loop in which it did. */
function start(policies: readonly ImagePolicy[]) {
  const world = createWorld();
  const all = () => policies;
  const errors: unknown[] = [];
  const ports = { ...world.ports, policies: { ...world.ports.policies, all } };
  const enqueuer = createEnqueuer({ ...ports, turns: createTurns(), onError: (error) => errors.push(error) });
  const considered: string[] = [];
  const turns = new Set<number>();
  let number = 0;
  const consider = ({ name }: ImagePolicy) => {
    considered.push(name);
    turns.add(number);
  };
  const listener = createConsentListener(world.ports.cluster, world.ports.cluster, { ...enqueuer, consider, considerNewTarget: consider });
  const settle = async (turns: number) => {
    for (const last = number + turns; number < last; number++) await turn();
  };
  return { listener, considered, turns, errors, settle, stop: enqueuer.stop };
}

test('when the consent of a Namespace changes, the policies of other namespaces with targets there are considered', async () => {
  const { listener, considered, settle } = start([inShop('foreign'), inShop('own', 'shop'), policyOf({ name: 'elsewhere' })]);
  listener('shop');
  await settle(10);
  assert.deepEqual(considered, ['foreign']);
});

test('many policies are considered in slices, together for all Namespaces that have changed', async (t) => {
  let time = 0;
  t.mock.method(performance, 'now', () => (time += 10));
  const { listener, considered, turns, settle } = start(Array.from({ length: 5 }, (_, index) => inShop(`p${index}`)));
  for (let changes = 0; changes < 100; changes++) listener('shop');
  await settle(100);
  assert.equal(considered.length, 10, 'one pass for the first change, and one for all others');
  assert.ok(turns.size >= 5, `visited in ${turns.size} turns`);
});

test('a policy that cannot be evaluated is skipped when a consent changes, and the pass ends when the service stops', async (t) => {
  let time = 0;
  t.mock.method(performance, 'now', () => (time += 10));
  const odd = {
    ...inShop('odd'),
    get spec(): never {
      throw new Error('odd');
    },
  };
  const { listener, considered, errors, settle, stop } = start([odd, inShop('first'), inShop('second')]);
  listener('shop');
  await settle(10);
  assert.deepEqual([considered, errors.length], [['first', 'second'], 1]);
  listener('shop');
  stop();
  await settle(10);
  assert.deepEqual([considered.length, errors.length], [2, 2]);
});
