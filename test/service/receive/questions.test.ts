/** A sender asks what became of its delivery, and whoever else asks learns nothing. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import { createDeliveryIds } from '../../../src/service/receive/delivery-ids.ts';
import { generic } from '../../../src/service/receive/providers/generic.ts';
import { harbor } from '../../../src/service/receive/providers/harbor.ts';
import type { Receiver } from '../../../src/service/receive/answer-delivery.ts';
import type { ReceiveOptions } from '../../../src/service/receive/app.ts';
import { post } from './post.ts';
import { startApp } from './start-app.ts';

const secrets = { prod: 's3cret', other: 'an0ther' };
const report = { state: 'rolledOut', isOver: true };

/** Two receivers, of which each was given one event, and the delivery of the first. */
async function deliver(t: TestContext, receiver: Partial<Receiver> = {}, options: Partial<ReceiveOptions> = {}) {
  const of = (name: 'prod' | 'other'): Receiver => ({
    name,
    provider: harbor,
    unauthenticated: false,
    secrets: () => [secrets[name]],
    showsResults: true,
    ...(name === 'prod' && receiver),
  });
  const receivers = [of('prod'), of('other')];
  const givenTo = new Map<string, string>();
  const results = {
    readSecret: async () => 'shared',
    readReport: async (id: string, asked: string) => (givenTo.get(id) === asked ? report : undefined),
  };
  const world = await startApp(t, {}, { receivers, results, ...options });
  const body = receiver.provider === generic ? JSON.stringify({ image: 'harbor.example.com/shop/web:1.2.3' }) : undefined;
  const answer = await post(world, body === undefined ? {} : { body });
  const { accepted } = answer.json<{ accepted: { id: string; delivery?: string }[] }>();
  const [{ id, delivery } = assert.fail()] = accepted;
  givenTo.set(id, 'prod');
  const ask = (path: string, authorization = secrets.prod) =>
    world.app.inject({ method: 'GET', url: `/webhooks/${path}`, headers: { authorization } });
  return { world, id, delivery: delivery ?? '', ask };
}

test('the answer to a delivery has an id, with which its sender can ask for the result', async (t) => {
  const { ask, delivery, id } = await deliver(t);
  assert.match(delivery, new RegExp(`^${id}-[0-9a-f]{40}$`));
  const answer = await ask(`prod/deliveries/${delivery}`);
  assert.deepEqual([answer.statusCode, answer.headers['cache-control'], answer.json()], [200, 'no-store', report]);
});

test('the token in the URL also authenticates a question about a delivery', async (t) => {
  const { ask, delivery } = await deliver(t);
  assert.equal((await ask(`prod/${secrets.prod}/deliveries/${delivery}`, '')).statusCode, 200);
  assert.equal((await ask(`prod/wrong/deliveries/${delivery}`)).statusCode, 401);
});

test('a sender that signs bodies asks about a delivery by signing an empty body', async (t) => {
  const { world, delivery } = await deliver(t, { provider: generic });
  const sign = (body: string) => `sha256=${createHmac('sha256', secrets.prod).update(body).digest('hex')}`;
  const ask = (signature: string) =>
    world.app.inject({ method: 'GET', url: `/webhooks/prod/deliveries/${delivery}`, headers: { 'x-signature-256': signature } });
  assert.equal((await ask(sign(''))).statusCode, 200);
  assert.equal((await ask(sign('{}'))).statusCode, 401);
});

describe('the result of a delivery is not shown', () => {
  const rows: readonly (readonly [
    title: string,
    path: (of: { id: string; delivery: string }) => string,
    authorization: string,
    status: number,
  ])[] = [
    ['without a proof', ({ delivery }) => `prod/deliveries/${delivery}`, '', 401],
    ['with a wrong secret', ({ delivery }) => `prod/deliveries/${delivery}`, 'guess', 401],
    ['with the secret of another receiver', ({ delivery }) => `prod/deliveries/${delivery}`, secrets.other, 401],
    ['by another receiver, with its own secret', ({ delivery }) => `other/deliveries/${delivery}`, secrets.other, 404],
    ['for the id of the event alone, which can be computed', ({ id }) => `prod/deliveries/${id}`, secrets.prod, 404],
    ['for an id of another event', ({ delivery }) => `prod/deliveries/0${delivery}`, secrets.prod, 404],
    ['for an id with another end', ({ delivery }) => `prod/deliveries/${delivery.slice(0, -1)}g`, secrets.prod, 404],
    ['for half an id', ({ delivery }) => `prod/deliveries/${delivery.slice(0, 20)}`, secrets.prod, 404],
    ['for an id with the end alone', ({ delivery }) => `prod/deliveries/${delivery.slice(-41)}`, secrets.prod, 404],
    ['for a text in another encoding', () => 'prod/deliveries/%00%ff', secrets.prod, 400],
    ['by a receiver that there is not', ({ delivery }) => `none/deliveries/${delivery}`, secrets.prod, 404],
  ];
  for (const [title, path, authorization, status] of rows) {
    test(title, async (t) => {
      const { ask, id, delivery } = await deliver(t);
      const answer = await ask(path({ id, delivery }), authorization);
      assert.equal(answer.statusCode, status, answer.body);
      assert.ok(!answer.body.includes('rolledOut') && !answer.body.includes(id));
    });
  }
  test('by a receiver without showResults, and its deliveries get no id', async (t) => {
    const { ask, delivery } = await deliver(t, { showsResults: false });
    assert.equal(delivery, '');
    const answer = await ask('prod/deliveries/x');
    assert.deepEqual([answer.statusCode, /showResults/.test(answer.body)], [404, true]);
    assert.equal((await ask('prod/deliveries/x', 'guess')).statusCode, 401);
  });
  test('beyond the rate limit, which deliveries and questions share', async (t) => {
    const { ask, delivery } = await deliver(t, { requestsPerMinute: 3 });
    const codes = [];
    for (let request = 0; request < 4; request++) codes.push((await ask(`prod/deliveries/${delivery}`)).statusCode);
    assert.deepEqual(codes, [200, 200, 429, 429]);
  });
});

test('without Redis a delivery is accepted without an id, and a question about a delivery is answered 503', async (t) => {
  const results = { readSecret: () => Promise.reject(new Error('gone')), readReport: () => Promise.reject(new Error('gone')) };
  const { world, delivery, ask } = await deliver(t, {}, { results });
  assert.deepEqual([world.stored.length, delivery], [1, '']);
  const answer = await ask(`prod/deliveries/x-${'0'.repeat(40)}`);
  assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [503, '5']);
});

test('while Redis hangs a delivery does not wait for its id, and a question about a delivery is answered 503 in time', async (t) => {
  const never = new Promise<never>(() => {});
  const { world, delivery, ask } = await deliver(
    t,
    {},
    { results: { readSecret: () => never, readReport: () => never }, confirmWithinMs: 100 },
  );
  assert.deepEqual([world.stored.length, delivery], [1, '']);
  assert.equal((await ask(`prod/deliveries/x-${'0'.repeat(40)}`)).statusCode, 503);
});

test('the secret of delivery ids is read again after ten seconds, so that replicas agree after Redis was wiped', async () => {
  let [now, secret, reads] = [0, 'first', 0];
  const ids = createDeliveryIds(
    async () => (reads++, secret),
    () => now,
  );
  const first = await ids.of('event', 'ci');
  secret = 'second';
  assert.deepEqual([await ids.of('event', 'ci'), reads], [first, 1]);
  now = 10_000;
  assert.deepEqual([(await ids.of('event', 'ci')) === first, await ids.read(first, 'ci'), reads], [false, undefined, 2]);
});
