import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createExpiringCredentials } from '../../../../src/service/registry/credentials/expiring-credentials.ts';

const hour = 3_600_000;

/** Credentials `one`, `two` … that last an hour, at a time that the test sets. */
function createWorld() {
  const state = { now: 0, fetches: 0, failure: undefined as Error | undefined, why: undefined as string | undefined };
  const tokens = createExpiringCredentials({
    deadlineMs: 60_000,
    now: () => state.now,
    fetch: async () => {
      state.fetches++;
      if (state.failure) throw state.failure;
      if (state.why !== undefined) return { why: state.why };
      return { credential: { username: 'me', password: `token-${state.fetches}` }, expiresAt: state.now + hour };
    },
  });
  const read = async (refresh = false, key = 'key') => {
    const found = await tokens(key, { refresh });
    return 'why' in found ? found.why : found.password;
  };
  return Object.assign(state, { read });
}

test('a credential is renewed in the background before it expires', async () => {
  const world = createWorld();
  assert.equal(await world.read(), 'token-1');
  world.now = 0.7 * hour;
  assert.equal(await world.read(), 'token-1');
  assert.equal(world.fetches, 1);
  world.now = 0.8 * hour;
  assert.equal(await world.read(), 'token-1');
  await turn();
  assert.equal(await world.read(), 'token-2');
  assert.equal(world.fetches, 2);
});

test('a credential that is about to expire is not used any more', async () => {
  const world = createWorld();
  await world.read();
  world.now = hour - 59_999;
  assert.equal(await world.read(), 'token-2');
});

test('a failed renewal is reported only after the credential has expired', async () => {
  const world = createWorld();
  await world.read();
  world.failure = new Error('connection refused');
  world.now = 0.8 * hour;
  assert.equal(await world.read(), 'token-1');
  await turn();
  assert.equal(await world.read(), 'token-1');
  world.now = hour;
  await assert.rejects(world.read(), /connection refused/);
  world.failure = undefined;
  assert.match(await world.read(), /^token-/);
});

test('when the cloud has no credential any more, the current one stays valid, and another is requested a minute later', async () => {
  const world = createWorld();
  await world.read();
  world.why = 'not in the cloud';
  world.now = 0.8 * hour;
  for (let times = 0; times < 3; times++) {
    assert.equal(await world.read(), 'token-1');
    await turn();
  }
  assert.equal(world.fetches, 2);
  world.why = undefined;
  world.now += 60_000;
  assert.equal(await world.read(), 'token-1');
  await turn();
  assert.equal(await world.read(), 'token-3');
});

test('an expired credential is not used any more even if the cloud has no other', async () => {
  const world = createWorld();
  await world.read();
  world.why = 'not in the cloud';
  world.now = hour - 60_000;
  assert.equal(await world.read(), 'not in the cloud');
});

test('a credential that the registry refuses and the cloud no longer has is used for a minute', async () => {
  const world = createWorld();
  await world.read();
  world.why = 'not in the cloud';
  world.now = 60_000;
  assert.equal(await world.read(true), 'token-1');
  world.now = 119_999;
  assert.equal(await world.read(true), 'token-1');
  assert.equal(world.fetches, 2);
  world.now = 120_000;
  assert.equal(await world.read(), 'not in the cloud');
});

test('a missing credential is remembered for two minutes, even when the registry refuses', async () => {
  const world = createWorld();
  world.why = 'not in the cloud';
  assert.equal(await world.read(), 'not in the cloud');
  world.why = undefined;
  world.now = 119_999;
  assert.equal(await world.read(true), 'not in the cloud');
  world.now = 120_000;
  assert.equal(await world.read(), 'token-2');
});

test('a refusal of the registry renews the credential, at most once a minute', async () => {
  const world = createWorld();
  await world.read();
  world.now = 59_999;
  assert.equal(await world.read(true), 'token-1');
  world.now = 60_000;
  assert.equal(await world.read(true), 'token-2');
});

test('the cache evicts unused credentials when there are very many', async () => {
  const world = createWorld();
  await world.read(false, 'unused');
  for (let index = 0; index < 1_000; index++) {
    await world.read();
    await world.read(false, `${index}`);
  }
  const { fetches } = world;
  await world.read();
  assert.equal(world.fetches, fetches);
  await world.read(false, 'unused');
  assert.equal(world.fetches, fetches + 1);
});

test('a request for a credential without an answer is aborted', async () => {
  const hanging = createExpiringCredentials({
    deadlineMs: 1,
    fetch: (_, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  });
  await assert.rejects(hanging('key', { refresh: false }), { name: 'TimeoutError' });
});

test('the time for which this process is suspended does not count towards the timeout of a credential', async () => {
  const deadlineMs = 200;
  const late = createExpiringCredentials({
    deadlineMs,
    fetch: async (_, signal) => {
      await turn();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * deadlineMs);
      await turn();
      signal.throwIfAborted();
      return { credential: { username: 'me', password: 'late' }, expiresAt: Date.now() + hour };
    },
  });
  assert.deepEqual(await late('key', { refresh: false }), { username: 'me', password: 'late' });
});
