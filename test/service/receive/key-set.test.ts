import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { errors, jwtVerify } from 'jose';
import { createKeySet } from '../../../src/service/receive/key-set.ts';
import { ProofUnavailable } from '../../../src/service/receive/authenticate.ts';
import { makeIssuer, now } from './keys.ts';

let old: Awaited<ReturnType<typeof makeIssuer>>;
let next: Awaited<ReturnType<typeof makeIssuer>>;
before(async () => ([old, next] = await Promise.all([makeIssuer('old'), makeIssuer('next')])));

const minute = 60_000;

/** A key set whose server answers what `answer` says at the time. */
function start(answer: () => Promise<string>) {
  const world = { at: now.getTime(), asked: 0, problems: [] as string[], answer };
  const keySet = createKeySet({
    url: 'https://issuer.example.com/keys',
    fetchText: () => {
      world.asked++;
      return world.answer();
    },
    elapsed: () => world.at,
    onError: (error) => void world.problems.push(error.message),
  });
  const verify = async (issuer: typeof old) =>
    (await jwtVerify(await issuer.token(), keySet.find, { currentDate: now })).protectedHeader.kid;
  return Object.assign(world, { verify, keySet });
}

test('the keys of an issuer are requested once for many waiting callers, and then not for ten minutes', async () => {
  const world = start(() => Promise.resolve(old.jwks));
  assert.deepEqual(await Promise.all([world.verify(old), world.verify(old), world.verify(old)]), ['old', 'old', 'old']);
  world.at += 9 * minute;
  await world.verify(old);
  assert.equal(world.asked, 1);
});

test('the keys of an issuer are refreshed without making a request wait', async () => {
  const world = start(() => Promise.resolve(old.jwks));
  await world.verify(old);
  world.at += 11 * minute;
  world.answer = () => new Promise<never>(() => undefined);
  await world.verify(old);
  await world.verify(old);
  assert.equal(world.asked, 2);
});

test('a new key of an issuer is found at once, and unknown keys are not requested repeatedly', async () => {
  const world = start(() => Promise.resolve(old.jwks));
  await world.verify(old);
  await assert.rejects(world.verify(next), errors.JWKSNoMatchingKey);
  assert.equal(world.asked, 1);
  world.at += minute;
  world.answer = () => Promise.resolve(JSON.stringify({ keys: [old.jwk, next.jwk] }));
  assert.equal(await world.verify(next), 'next');
  for (let stranger = 0; stranger < 5; stranger++) await assert.rejects(world.verify(await makeIssuer('stranger', 'ES256')));
  assert.equal(world.asked, 2);
});

test('during an outage of an issuer its known keys are valid for a day, and unknown keys cannot be verified', async () => {
  const world = start(() => Promise.resolve(old.jwks));
  await world.verify(old);
  world.answer = () => Promise.reject(new Error('connection refused'));
  world.at += 23 * 60 * minute;
  assert.equal(await world.verify(old), 'old');
  world.at += minute;
  await assert.rejects(world.verify(next), ProofUnavailable);
  world.at += 60 * minute;
  await assert.rejects(world.verify(old), ProofUnavailable);
  assert.match(world.problems[0] ?? '', /fetching the keys of https:\/\/issuer\.example\.com\/keys: connection refused/);
});

test('after an outage at the start the keys of an issuer are requested again after two seconds, not for each request', async () => {
  const world = start(() => Promise.reject(new Error('connection refused')));
  await world.keySet.warm();
  for (let request = 0; request < 5; request++) await assert.rejects(world.verify(old), ProofUnavailable);
  assert.equal(world.asked, 1);
  world.answer = () => Promise.resolve(old.jwks);
  world.at += 2_000;
  assert.equal(await world.verify(old), 'old');
});

for (const [name, text] of [
  ['not JSON', '<html>'],
  ['no key set', '{}'],
  ['keys that are none', '{"keys":[1]}'],
] as const) {
  test(`an answer for keys that is ${name} counts as no answer`, async () => {
    const world = start(() => Promise.resolve(text));
    await assert.rejects(world.verify(old), ProofUnavailable);
    assert.equal(world.problems.length, 1);
  });
}
