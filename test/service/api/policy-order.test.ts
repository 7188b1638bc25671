import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from '../../../src/core/async/turns.ts';
import { listedOf } from '../../../src/service/api/listed.ts';
import { pageOf, policyOrders } from '../../../src/service/api/policy-order.ts';
import { listVisible } from '../../../src/service/api/see-policies.ts';
import { policyOf } from '../../core/model/samples.ts';
import { samplePolicies, samplePorts } from './sample-policies.ts';

const turns = createTurns();
const { each } = turns;
const changed = (at: string) => ({ history: [{ at, tag: '1.0.0', result: 'Done' } as never] });
const policies = [
  ...samplePolicies,
  policyOf({ name: 'older', uid: 'a', status: changed('2026-03-01T10:00:00Z') }),
  policyOf({ name: 'newer', uid: 'b', status: changed('2026-03-01T11:00:00Z') }),
  policyOf({ namespace: 'eu', name: 'newer', uid: 'c', status: changed('2026-03-01T11:00:00Z') }),
].map(listedOf);
const byName = policies.toSorted((a, b) => (a.key < b.key ? -1 : 1));

for (const order of policyOrders)
  test(`pages of any size list all policies by ${order} once, in the order of one long page`, async () => {
    const { page: all } = await pageOf(byName, { order, limit: 500 }, each);
    const whole = all.map(({ key }) => key);
    assert.deepEqual(whole.toSorted(), byName.map(({ key }) => key).toSorted());
    for (const limit of [1, 2, 3, 5]) {
      const keys: string[] = [];
      let next: string | undefined;
      do {
        const found = await pageOf(byName, { order, limit, after: next }, each);
        keys.push(...found.page.map(({ key }) => key));
        ({ next } = found);
      } while (next !== undefined);
      assert.deepEqual(keys, whole, `${limit} at once`);
    }
  });

test('the newest changes come first, those of one time by name, and policies without changes last', async () => {
  const { page } = await pageOf(byName, { order: 'changed', limit: 4 }, each);
  assert.deepEqual(
    page.map(({ key }) => key),
    ['eu/newer', 'shop/newer', 'shop/older', 'ops/other'],
  );
});

test('a list is sorted whatever was changed, created or deleted since the last one', async () => {
  let current = [policyOf({ name: 'c' }), policyOf({ name: 'a' }), policyOf({ name: 'b' })];
  const ports = { policies: samplePorts([], { all: () => current }), turns };
  const access = { user: 'ann', credentials: { kind: 'none' }, may: () => Promise.resolve(true) } as const;
  const list = async () => (await listVisible(ports, access, undefined)).map(({ policy }) => [policy.name, policy.generation]);
  const first = await list();
  assert.deepEqual(
    first.map(([name]) => name),
    ['a', 'b', 'c'],
  );
  current = current.with(1, policyOf({ name: 'a', generation: 7 }));
  assert.deepEqual((await list())[0], ['a', 7]);
  current = [...current.slice(1), policyOf({ name: 'aa' })];
  assert.deepEqual(
    (await list()).map(([name]) => name),
    ['a', 'aa', 'b'],
  );
});
