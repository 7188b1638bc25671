import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confirmedForMs, createPolicyCheck } from '../../src/cluster/check-policy.ts';
import type { ImagePolicy } from '../../src/model/image-policy.ts';
import { createObjectStore } from '../../src/kube/object-store.ts';
import { policyOf } from '../model/samples.ts';

/** Policy shop/web as the cache has it; what the API server has is set by the test, and whether the watch is heard from. */
function world() {
  const policies = createObjectStore<ImagePolicy>();
  const cached: ImagePolicy = { ...policyOf(), resourceVersion: '10', generation: 1 };
  policies.put(cached);
  const state = { live: cached as ImagePolicy | undefined, quietMs: 60_000 as number | undefined, reads: 0, reconnects: 0, now: 0 };
  const isCurrent = createPolicyCheck({
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
  return { policies, cached, state, check: (policy = cached) => isCurrent(policy, new AbortController().signal) };
}

test('a watch that received something recently costs no request', async () => {
  const { state, check } = world();
  state.quietMs = confirmedForMs - 1;
  for (let patch = 0; patch < 100; patch++) assert.equal(await check(), true);
  assert.equal(state.reads, 0);
});

test('a quiet watch costs one request for all patches at the same moment, and another one later', async () => {
  const { state, check } = world();
  assert.deepEqual(new Set(await Promise.all(Array.from({ length: 100 }, () => check()))), new Set([true]));
  assert.equal(state.reads, 1);
  state.now = confirmedForMs;
  assert.equal(await check(), true);
  assert.equal(state.reads, 2);
  assert.equal(state.reconnects, 0, 'a watch that has nothing to say is left alone');
});

test('a watch that has not opened yet confirms nothing', async () => {
  const { state, check } = world();
  state.quietMs = undefined;
  await check();
  assert.equal(state.reads, 1);
});

test('a policy that was changed must not act on its old spec, the new one is cached, and its watch is reopened', async () => {
  const { policies, cached, state, check } = world();
  state.live = { ...cached, resourceVersion: '11', generation: 2 };
  assert.equal(await check(), false);
  assert.equal(policies.get('shop', 'web')?.generation, 2);
  assert.equal(state.reconnects, 1);
  assert.equal(await check(state.live), true);
});

test('a new status alone does not cause another plan', async () => {
  const { cached, state, check } = world();
  state.live = { ...cached, resourceVersion: '11' };
  assert.equal(await check(), true);
});

for (const [what, live] of [
  ['deleted', undefined],
  ['created anew under its name', { ...policyOf(), uid: 'another', resourceVersion: '12', generation: 1 }],
] as const)
  test(`a policy that was ${what} must not act, and the cache is updated`, async () => {
    const { policies, state, check } = world();
    state.live = live;
    assert.equal(await check(), false);
    assert.equal(policies.get('shop', 'web')?.uid, live?.uid);
    assert.equal(state.reconnects, 1);
  });

test('a policy that is deleted while our own write is stored must not act', async () => {
  const { policies, cached, state, check } = world();
  state.live = undefined;
  const checked = check();
  policies.put({ ...cached, resourceVersion: '12' });
  assert.equal(await checked, false);
  assert.equal(policies.get('shop', 'web'), undefined);
});

test('a policy that the watch has not delivered yet is read', async () => {
  const { cached, state, check } = world();
  const newcomer = { ...cached, name: 'new', uid: 'new' };
  state.live = newcomer;
  assert.equal(await check(newcomer), true);
  state.live = undefined;
  assert.equal(await check(newcomer), false);
});

test('a check that fails permits nothing, and is repeated', async () => {
  const { cached, policies } = world();
  let failures = 1;
  const isCurrent = createPolicyCheck({
    policies,
    watchOf: () => undefined,
    readPolicy: async () => cached,
    readVersion: async () => {
      if (failures-- > 0) throw new Error('no answer');
      return cached.resourceVersion;
    },
  });
  await assert.rejects(isCurrent(cached, new AbortController().signal), /no answer/);
  assert.equal(await isCurrent(cached, new AbortController().signal), true);
});
