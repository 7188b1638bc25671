import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessError } from '../../../src/service/api/access.ts';
import { createProofs } from '../../../src/service/api/proofs.ts';

/** Proofs that are fresh for 10 ms and old for 100 ms, and an API server that answers, is away, or says nothing. */
function start() {
  let now = 0;
  let asked = 0;
  let state: 'yes' | 'no' | 'away' | 'silent' | Error = 'yes';
  const proofs = createProofs<boolean>({ freshMs: 10_000, oldMs: 100_000, limit: 10, elapsed: () => now });
  const ask = (): Promise<boolean> => {
    asked++;
    if (state === 'silent') return new Promise(() => undefined);
    if (state === 'away') return Promise.reject(new Error('connect ECONNREFUSED'));
    return state instanceof Error ? Promise.reject(state) : Promise.resolve(state === 'yes');
  };
  return {
    asked: () => asked,
    pass: (ms: number) => void (now += ms),
    become: (next: typeof state) => void (state = next),
    get: (mayBeOld = true, key = 'a') => proofs.get(key, ask, mayBeOld),
  };
}

test('an access review is reused for ten seconds, and simultaneous callers share one', async () => {
  const { get, pass, asked, become } = start();
  assert.deepEqual(await Promise.all([get(), get(), get()]), [true, true, true]);
  assert.equal(asked(), 1);
  pass(9_999);
  become('no');
  assert.equal(await get(), true);
  pass(1);
  assert.equal(await get(), false);
});

test('while the API server is away, an old access review counts for a bounded time, and only for reading', async () => {
  const { get, pass, become } = start();
  await get();
  become('away');
  pass(50_000);
  assert.equal(await get(), true);
  await assert.rejects(get(false), /ECONNREFUSED/);
  pass(49_999);
  assert.equal(await get(), true);
  pass(1);
  await assert.rejects(get(), /ECONNREFUSED/);
  await assert.rejects(get(true, 'never asked'), /ECONNREFUSED/);
});

test('an API server that does not answer is waited for once, and is asked again after a pause', async () => {
  const { get, pass, become, asked } = start();
  await get();
  become('silent');
  pass(20_000);
  assert.equal(await get(), true);
  assert.equal(await get(), true);
  assert.equal(asked(), 2);
});

test('a right that was taken away is gone as soon as the API server answers', async () => {
  const { get, pass, become } = start();
  await get();
  become('away');
  pass(20_000);
  assert.equal(await get(), true);
  become('no');
  pass(5_000);
  assert.equal(await get(), false);
});

const refusals = {
  'the API server refuses the question': Object.assign(new Error('forbidden'), { status: 403 }),
  'too much was asked': new AccessError(429, 'too many'),
};
for (const [name, refusal] of Object.entries(refusals))
  test(`no old access review counts where ${name}`, async () => {
    const { get, pass, become } = start();
    await get();
    become(refusal);
    pass(20_000);
    await assert.rejects(get(), refusal);
  });
