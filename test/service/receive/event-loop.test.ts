/** What a request costs the event loop of the real HTTP server; of each provider: `providers/conformance.ts`. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Receiver } from '../../../src/service/receive/answer-delivery.ts';
import { acr } from '../../../src/service/receive/providers/acr.ts';
import { ecr } from '../../../src/service/receive/providers/ecr.ts';
import { ghcr } from '../../../src/service/receive/providers/ghcr.ts';
import { gitea } from '../../../src/service/receive/providers/gitea.ts';
import type { Provider } from '../../../src/service/receive/providers/provider.ts';
import { cpuCost } from './cpu-cost.ts';
import { hostileBodies, megabyte } from './providers/hostile-bodies.ts';
import { createRawClient, rawRequest } from './send-raw.ts';
import { startApp } from './start-app.ts';

async function listen(t: TestContext, receiver: Partial<Receiver>) {
  const world = await startApp(t, receiver);
  await world.app.listen({ host: '127.0.0.1', port: 0 });
  const [address] = world.app.addresses();
  assert.ok(typeof address === 'object');
  return Object.assign(world, { send: createRawClient(t, address.port) });
}

const path = 'POST /webhooks/prod';
const plain = Buffer.alloc(megabyte, ' ');
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const many = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`x${index.toString(36)}`, 'a']));
const long = 'a&'.repeat(7_000);
const fields = Buffer.from('a&'.repeat(megabyte / 2));

const strangers: [name: string, provider: Provider, request: Buffer, status: number][] = [
  ['a form of many fields', gitea, rawRequest(path, { ...form, 'x-gitea-signature': '0'.repeat(64) }, fields), 401],
  ['a form of many fields', ghcr, rawRequest(path, { ...form, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }, fields), 401],
  ['many headers', ecr, rawRequest(path, many, plain), 401],
  ['a long query', ecr, rawRequest(`${path}?${long}`, {}, plain), 401],
  ['a long query of an unknown path', ecr, rawRequest(`POST /?${long}`, {}, plain), 404],
  ['a long path', ecr, rawRequest(`${path}/${'%41'.repeat(5_000)}`, {}, plain), 414],
  ['a long path of many parts', ecr, rawRequest(`${path}${'/a'.repeat(7_000)}`, {}, plain), 404],
  ['a long content type', ecr, rawRequest(path, { 'content-type': `a/b;${'a=b;'.repeat(3_500)}` }, plain), 401],
  ['a long Authorization', ecr, rawRequest(path, { authorization: `Basic ${'a'.repeat(15_000)} !` }, plain), 401],
  ['a handshake', ecr, rawRequest('OPTIONS /webhooks/prod', { 'webhook-request-origin': 'a'.repeat(15_000) }), 400],
];

for (const [name, provider, request, status] of strangers) {
  test(`${provider.id}: a request costs less than 5 ms besides its reading before it is known who sends: ${name}`, async (t) => {
    const { send } = await listen(t, { provider, secrets: () => ['one-secret', 'and-the-next'] });
    const ask = (bytes: Buffer, expected: number) => async () => {
      const answer = await send(bytes);
      assert.ok(answer.startsWith(`HTTP/1.1 ${expected} `), answer.slice(0, 200));
    };
    const ordinary = ask(rawRequest(path, {}, plain), 401);
    for (let round = 0; round < 3; round++) await ordinary();
    const reading = await cpuCost(0, ordinary);
    const cost = await cpuCost(reading + 5, ask(request, status));
    assert.ok(cost < reading + 5, `${cost} ms beside ${reading} ms`);
  });
}

test('a megabyte in chunks of one byte is refused after some hundred chunks', async (t) => {
  const { send } = await listen(t, {});
  const chunks = Buffer.from(`${'1\r\na\r\n'.repeat(megabyte)}0\r\n\r\n`);
  const request = rawRequest(path, { 'transfer-encoding': 'chunked' }, chunks);
  const cost = await cpuCost(100, async () => {
    const answer = await send(request);
    // The rest is not read, so the answer may be lost on its way.
    assert.ok(answer === '' || answer.startsWith('HTTP/1.1 413 '), answer.slice(0, 200));
  });
  assert.ok(cost < 100, `${cost} ms`);
});

test('a body in chunks of usual sizes is accepted, whatever its length', async (t) => {
  const { send } = await listen(t, { secrets: () => ['s3cret'] });
  for (const [size, piece] of [
    [400, 1],
    [100_000, 1_400],
    [megabyte, 1_024],
  ] as const) {
    const body = '{}'.padStart(size);
    const pieces = Array.from({ length: Math.ceil(body.length / piece) }, (_, index) => body.slice(index * piece, (index + 1) * piece));
    const chunks = Buffer.from(`${pieces.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join('')}0\r\n\r\n`);
    const answer = await send(rawRequest(path, { 'transfer-encoding': 'chunked', authorization: 'Bearer s3cret' }, chunks));
    assert.ok(answer.startsWith('HTTP/1.1 200 '), answer.slice(0, 200));
  }
});

test('an authentic batch of junk is answered 413 with a short body', async (t) => {
  const { send } = await listen(t, { provider: acr, secrets: () => ['s3cret'] });
  for (const [name, body] of hostileBodies().filter(([each]) => /^(?:numbers|empty|small|arrays)/.test(each))) {
    let answer = '';
    const cost = await cpuCost(100, async () => {
      answer = await send(rawRequest(path, { authorization: 'Bearer s3cret', 'content-type': 'application/json' }, body));
    });
    assert.ok(answer.startsWith('HTTP/1.1 413 ') && answer.length < 500, `${name}: ${answer.slice(0, 300)}`);
    assert.ok(cost < 100, `${name}: ${cost} ms`);
  }
});
