/** Subscriptions over the real HTTP server: confirmed after the rate limit, once, and without making anybody wait. */
import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import { createConfirmation, createSigningCertificates } from '../../../src/service/receive/sns-client.ts';
import type { FetchText } from '../../../src/service/receive/fetch-text.ts';
import { ecr } from '../../../src/service/receive/providers/ecr.ts';
import { createSnsProof } from '../../../src/service/receive/sns-proof.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { makeSigner, notification, now, topic, type Message } from './keys.ts';
import { startApp } from './start-app.ts';

let signer: Awaited<ReturnType<typeof makeSigner>>;
before(async () => (signer = await makeSigner()));

async function listen(
  t: TestContext,
  { requestsPerMinute = 1_000, confirm = () => Promise.resolve('') }: { requestsPerMinute?: number; confirm?: FetchText },
) {
  const confirmed: string[] = [];
  const results: boolean[] = [];
  const world = { at: now.getTime() };
  const clock = () => world.at;
  const findSigningKey = createSigningCertificates({
    fetchText: () => Promise.resolve(signer.pem),
    now: () => new Date(world.at),
    onError: (error) => assert.fail(error),
  });
  const confirmation = createConfirmation({
    fetchText: (url, signal) => {
      confirmed.push(url);
      return confirm(url, signal);
    },
    now: clock,
    onResult: (_topic, isConfirmed) => void results.push(isConfirmed),
  });
  const proofs = [createSnsProof({ topics: [topic], findSigningKey, confirm: confirmation })];
  const { app } = await startApp(t, { provider: ecr, secrets: () => [], proofs, requestsPerMinute });
  const base = await app.listen({ host: '127.0.0.1', port: 0 });
  const send = async (message: Message) =>
    (await fetch(`${base}/webhooks/prod`, { method: 'POST', body: JSON.stringify(message), headers: { 'content-type': 'text/plain' } }))
      .status;
  return Object.assign(world, { confirmed, results, send });
}

const confirmationOf = (token: string) =>
  signer.signed({ ...notification, Type: 'SubscriptionConfirmation', Token: token, SubscribeURL: 'https://attacker.example.com/' });

test('a confirmation over the rate limit of the receiver is answered 429, and sends no request to AWS', async (t) => {
  const world = await listen(t, { requestsPerMinute: 1 });
  assert.equal(await world.send(confirmationOf('first')), 200);
  assert.equal(await world.send(confirmationOf('second')), 429);
  assert.equal(await world.send({ ...confirmationOf('third'), Signature: '' }), 401);
  assert.deepEqual(
    world.confirmed.map((url) => new URL(url).searchParams.get('Token')),
    ['first'],
  );
});

test('a repeated confirmation sends no request unless AWS rejected it, and requests per minute are limited', async (t) => {
  let answer: () => Promise<string> = () => Promise.reject(new Error('connection refused'));
  const world = await listen(t, { confirm: () => answer() });
  await world.send(confirmationOf('first'));
  await waitFor('the failure', () => world.results.length === 1);
  answer = () => Promise.resolve('');
  for (let time = 0; time < 10; time++) assert.equal(await world.send(confirmationOf('first')), 200);
  assert.deepEqual([world.confirmed.length, world.results], [2, [false, true]]);
  for (let time = 0; time < 10; time++) assert.equal(await world.send(confirmationOf(`other-${time}`)), 200);
  assert.equal(world.confirmed.length, 6);
  world.at += 60_000;
  assert.equal(await world.send(confirmationOf('later')), 200);
  assert.equal(world.confirmed.length, 7);
});

test('a confirmation that AWS never answers delays no notification', async (t) => {
  const world = await listen(t, { confirm: () => new Promise<never>(() => undefined) });
  assert.equal(await world.send(confirmationOf('first')), 200);
  const event = { 'detail-type': 'ECR Image Action', source: 'aws.ecr', account: '123456789012', region: 'eu-west-1' };
  const detail = { result: 'SUCCESS', 'action-type': 'PUSH', 'repository-name': 'team/api', 'image-tag': 'v1' };
  assert.equal(await world.send(signer.signed({ ...notification, Message: JSON.stringify({ ...event, detail }) })), 202);
  assert.equal(world.confirmed.length, 1);
});
