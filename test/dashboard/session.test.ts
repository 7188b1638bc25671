/** The cookies of sessions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSeal } from '../../src/dashboard/session.ts';

test('a session in the cache is accepted until it expires or the secret changes', async (t) => {
  let [now, secret] = [Date.now(), 'a secret of the tests'];
  const { session } = createSeal(() => secret, 60_000);
  const token = { kind: 'token', token: 'anns-token' } as const;
  const text = await session.close(token);
  assert.deepEqual(await session.open(text), token);
  secret = 'another secret of the tests';
  assert.equal(await session.open(text), undefined);
  secret = 'a secret of the tests';
  t.mock.timers.enable({ apis: ['Date'], now });
  assert.deepEqual(await session.open(text), token);
  now += 61_000;
  t.mock.timers.setTime(now);
  assert.equal(await session.open(text), undefined);
});
