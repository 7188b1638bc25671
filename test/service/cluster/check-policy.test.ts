import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPolicyCheck } from '../../../src/service/cluster/check-policy.ts';
import { confirmedForMs } from '../../../src/core/model/confirmation.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { createObjectStore } from '../../../src/service/kube/object-store.ts';
import { policyOf } from '../../core/model/samples.ts';

/** Policy shop/web as the cache has it; what the API server has is set by the test, and whether the watch is heard from. */
function world() {
  const policies = createObjectStore<ImagePolicy>();
  const cached: ImagePolicy = { ...policyOf(), resourceVersion: '10', generation: 1 };
  policies.put(cached);
  const state = { live: cached as ImagePolicy | undefined, quietMs: 60_000 as number | undefined, reads: 0, reconnects: 0, now: 0 };
  const confirm = createPolicyCheck({
    policies,
    watchOf: () => ({
      state: () => ({
        synced: true,
        connected: true,
        isForbidden: false,
        objects: 1,
        ...(state.quietMs !== undefined && { quietMs: state.quietMs }),
      }),
      reconnect: () => void state.reconnects++,
    }),
    readPolicy: async () => state.live,
    readVersion: async () => {
      state.reads++;
      return state.live?.resourceVersion;
    },
    monotonicNow: () => state.now,
  });
  /** Whether the policy is confirmed. */
  const check = async (policy = cached) => (await confirm(policy, new AbortController().signal)) !== undefined;
  return { policies, cached, state, check, confirm: () => confirm(cached, new AbortController().signal) };
}

test('a watch that received something recently costs no request', async () => {
  const { state, check } = world();
  state.quietMs = confirmedForMs - 1;
  for (let patch = 0; patch < 100; patch++) assert.equal(await check(), true);
  assert.equal(state.reads, 0);
});

test('a confirmation is as old as the watch event or read that it relies on', async () => {
  const { state, confirm } = world();
  state.now = 10_000;
  state.quietMs = 1_200;
  assert.equal(await confirm(), 8_800);
  state.quietMs = 60_000;
  assert.equal(await confirm(), 10_000);
  state.now = 11_500;
  assert.equal(await confirm(), 10_000, 'the read before serves for some seconds');
});

test('a quiet watch costs one request for all simultaneous patches, and another request later', async () => {
  const { state, check } = world();
  assert.deepEqual(new Set(await Promise.all(Array.from({ length: 100 }, () => check()))), new Set([true]));
  assert.equal(state.reads, 1);
  state.now = confirmedForMs;
  assert.equal(await check(), true);
  assert.equal(state.reads, 2);
  assert.equal(state.reconnects, 0, 'a watch that has nothing to say is left alone');
});

test('a watch that has not opened yet confirms nothing, so that the policy is read', async () => {
  const { state, check } = world();
  state.quietMs = undefined;
  await check();
  assert.equal(state.reads, 1);
});

test('a changed policy is not confirmed for its old spec, the new one is cached, and its watch is reopened', async () => {
  const { policies, cached, state, check } = world();
  state.live = { ...cached, resourceVersion: '11', generation: 2 };
  assert.equal(await check(), false);
  assert.equal(policies.get('shop', 'web')?.generation, 2);
  assert.equal(state.reconnects, 1);
  assert.equal(await check(state.live), true);
});

const digest = `sha256:${'a'.repeat(64)}`;
for (const [what, isConfirmed, change] of [
  [
    'a status that tells what was done',
    true,
    { status: { running: '1.2.3', lastCheckTime: '2026-01-01T00:00:00Z', observedGeneration: 1 } },
  ],
  ['a request to check', true, { actions: { requestedAt: 'now' } }],
  ['an image that was rejected', false, { status: { rejected: [{ digest, reason: 'RolledBack', at: '2026-01-01T00:00:00Z' }] } }],
  ['an approval', false, { actions: { approve: `1.3.0@${digest}` } }],
  ['a request to roll back', false, { actions: { rollbackTo: 'previous' } }],
  ['a release', false, { actions: { release: '2026-01-01T00:00:00Z' } }],
] as const satisfies readonly (readonly [string, boolean, Partial<ImagePolicy>])[]) {
  for (const quietMs of [0, 60_000])
    test(`a plan ${isConfirmed ? 'holds' : 'is made again'} after ${what} that ${quietMs === 0 ? 'the watch has shown' : 'was read'}`, async () => {
      const { policies, cached, state, check } = world();
      state.quietMs = quietMs;
      state.live = { ...cached, ...change, resourceVersion: '11' };
      if (quietMs === 0) policies.put(state.live);
      assert.equal(await check(), isConfirmed);
      assert.equal(await check(state.live), true, 'planned anew with it, the change is made');
      if (!isConfirmed) assert.equal(await check(cached), false);
    });
}

test('a policy that is newer than the cache is confirmed as it was planned for', async () => {
  const { cached, state, check } = world();
  state.quietMs = 0;
  assert.equal(await check({ ...cached, resourceVersion: '12', generation: 2, actions: { approve: `1.3.0@${digest}` } }), true);
});

for (const [what, live] of [
  ['deleted', undefined],
  ['created anew under its name', { ...policyOf(), uid: 'another', resourceVersion: '12', generation: 1 }],
] as const)
  test(`a policy that was ${what} is not confirmed, and the cache is updated`, async () => {
    const { policies, state, check } = world();
    state.live = live;
    assert.equal(await check(), false);
    assert.equal(policies.get('shop', 'web')?.uid, live?.uid);
    assert.equal(state.reconnects, 1);
  });

test('a policy that is deleted while our own write is stored is not confirmed', async () => {
  const { policies, cached, state, check } = world();
  state.live = undefined;
  const checked = check();
  policies.put({ ...cached, resourceVersion: '12' });
  assert.equal(await checked, false);
  assert.equal(policies.get('shop', 'web'), undefined);
});

test('a policy that the watch has not delivered yet is read before it is confirmed', async () => {
  const { cached, state, check } = world();
  const newcomer = { ...cached, name: 'new', uid: 'new' };
  state.live = newcomer;
  assert.equal(await check(newcomer), true);
  state.live = undefined;
  assert.equal(await check(newcomer), false);
});

test('a check that fails confirms nothing, and is repeated', async () => {
  const { cached, policies } = world();
  let failures = 1;
  const confirm = createPolicyCheck({
    policies,
    watchOf: () => undefined,
    readPolicy: async () => cached,
    readVersion: async () => {
      if (failures-- > 0) throw new Error('no answer');
      return cached.resourceVersion;
    },
  });
  await assert.rejects(confirm(cached, new AbortController().signal), /no answer/);
  assert.notEqual(await confirm(cached, new AbortController().signal), undefined);
});
