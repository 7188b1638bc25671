import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { createTurns, type Turns } from '../../../src/core/async/turns.ts';
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

test('policies are sorted by their newest change, then by name, with unchanged policies last', async () => {
  const { page } = await pageOf(byName, { order: 'changed', limit: 4 }, each);
  assert.deepEqual(
    page.map(({ key }) => key),
    ['eu/newer', 'shop/newer', 'shop/older', 'ops/other'],
  );
});

test('the list of policies is sorted whatever was changed, created or deleted since the last list', async () => {
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

/** Lists the policies of a cache. */
function openLists(cache: ReadonlyMap<string, ImagePolicy>, own: Turns = turns) {
  const ports = { policies: samplePorts([], { all: () => cache.values() }), turns: own };
  const access = { user: 'ann', credentials: { kind: 'none' }, may: () => Promise.resolve(true) } as const;
  return async () => (await listVisible(ports, access, undefined)).map(({ policy }) => policy);
}

test('after any changes, the list of policies has what the cache has, in the order of names', async () => {
  const change = fc.record({ name: fc.integer({ min: 0, max: 40 }), isDeleted: fc.boolean(), isListed: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 60 }), async (changes) => {
      const cache = new Map<string, ImagePolicy>();
      const list = openLists(cache);
      for (const [generation, { name, isDeleted, isListed }] of changes.entries()) {
        const key = `web-${name}`;
        if (isDeleted) cache.delete(key);
        else cache.set(key, policyOf({ name: key, generation }));
        if (!isListed) continue;
        const expected = [...cache.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
        assert.deepEqual(await list(), expected);
      }
    }),
    { numRuns: 60 },
  );
});

test('a policy that changes while a list is made is right in the next list', async () => {
  const named = (name: string, generation = 0): [string, ImagePolicy] => [name, policyOf({ name, generation })];
  const cache = new Map(Array.from({ length: 2_000 }, (_, index) => named(`web-${index}`)));
  let [now, slices, isChanging] = [0, 0, true];
  const changing = createTurns({
    elapsed: () => (now += 0.1),
    passOn() {
      slices++;
      if (!isChanging) return Promise.resolve();
      // The first and the last one change, one goes, and one comes.
      for (const name of ['web-0', 'web-1999']) cache.set(...named(name, slices));
      cache.delete('web-7');
      cache.set(...named('new'));
      return Promise.resolve();
    },
    pause: () => assert.fail('nothing goes first'),
  });
  const list = openLists(cache, changing);
  assert.equal((await list()).length, 2_000);
  const changes = slices;
  assert.ok(changes > 1);
  isChanging = false;
  const next = await list();
  assert.deepEqual(
    next,
    [...cache.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  );
  assert.equal(next.find(({ name }) => name === 'web-0')?.generation, changes);
});
