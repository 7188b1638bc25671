import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createExpiringCredentials } from '../../../src/registry/credentials/expiring-credentials.ts';

const hour = 3_600_000;

/** Credentials `one`, `two` … that last an hour, at a time that the test sets. */
function world() {
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

test('it is renewed before it ends, and nobody waits for that', async () => {
  const it = world();
  assert.equal(await it.read(), 'token-1');
  it.now = 0.7 * hour;
  assert.equal(await it.read(), 'token-1');
  assert.equal(it.fetches, 1);
  it.now = 0.8 * hour;
  assert.equal(await it.read(), 'token-1');
  await turn();
  assert.equal(await it.read(), 'token-2');
  assert.equal(it.fetches, 2);
});

test('one that is about to end is not used any more', async () => {
  const it = world();
  await it.read();
  it.now = hour - 59_999;
  assert.equal(await it.read(), 'token-2');
});

test("while it lasts a failure to renew it is nobody's trouble; after that it is", async () => {
  const it = world();
  await it.read();
  it.failure = new Error('connection refused');
  it.now = 0.8 * hour;
  assert.equal(await it.read(), 'token-1');
  await turn();
  assert.equal(await it.read(), 'token-1');
  it.now = hour;
  await assert.rejects(it.read(), /connection refused/);
  it.failure = undefined;
  assert.match(await it.read(), /^token-/);
});

test('a cloud that has none any more does not take back what it gave: it is asked again a minute later', async () => {
  const it = world();
  await it.read();
  it.why = 'not in the cloud';
  it.now = 0.8 * hour;
  for (let times = 0; times < 3; times++) {
    assert.equal(await it.read(), 'token-1');
    await turn();
  }
  assert.equal(it.fetches, 2);
  it.why = undefined;
  it.now += 60_000;
  assert.equal(await it.read(), 'token-1');
  await turn();
  assert.equal(await it.read(), 'token-3');
});

test('what ended is not used any more when the cloud has none', async () => {
  const it = world();
  await it.read();
  it.why = 'not in the cloud';
  it.now = hour - 60_000;
  assert.equal(await it.read(), 'not in the cloud');
});

test('what the registry refuses and the cloud does not have any more is used for a minute', async () => {
  const it = world();
  await it.read();
  it.why = 'not in the cloud';
  it.now = 60_000;
  assert.equal(await it.read(true), 'token-1');
  it.now = 119_999;
  assert.equal(await it.read(true), 'token-1');
  assert.equal(it.fetches, 2);
  it.now = 120_000;
  assert.equal(await it.read(), 'not in the cloud');
});

test('that there is none is remembered for two minutes, also where the registry refuses', async () => {
  const it = world();
  it.why = 'not in the cloud';
  assert.equal(await it.read(), 'not in the cloud');
  it.why = undefined;
  it.now = 119_999;
  assert.equal(await it.read(true), 'not in the cloud');
  it.now = 120_000;
  assert.equal(await it.read(), 'token-2');
});

test('a refusal of the registry renews it, once a minute at most', async () => {
  const it = world();
  await it.read();
  it.now = 59_999;
  assert.equal(await it.read(true), 'token-1');
  it.now = 60_000;
  assert.equal(await it.read(true), 'token-2');
});

test('of very many those are forgotten that nobody uses', async () => {
  const it = world();
  await it.read(false, 'unused');
  for (let index = 0; index < 1_000; index++) {
    await it.read();
    await it.read(false, `${index}`);
  }
  const { fetches } = it;
  await it.read();
  assert.equal(it.fetches, fetches);
  await it.read(false, 'unused');
  assert.equal(it.fetches, fetches + 1);
});

test('what never answers is given up', async () => {
  const hanging = createExpiringCredentials({
    deadlineMs: 1,
    fetch: (_, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  });
  await assert.rejects(hanging('key', { refresh: false }), { name: 'TimeoutError' });
});

test('while this process is held up it cannot be answered: that does not count', async () => {
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
