/** What callers of the API can make the service spend is bounded. */
import assert from 'node:assert/strict';
import { connect, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { createTurns } from '../../../src/core/async/turns.ts';
import type { Caller } from '../../../src/core/model/caller.ts';
import { AccessError } from '../../../src/service/api/access.ts';
import { createAuthenticate, type OperationsAuth } from '../../../src/service/api/authenticate.ts';
import { boundReviews } from '../../../src/service/api/review-tokens.ts';
import { createPolicyFeed, createStreams, policyStream } from '../../../src/service/api/stream.ts';
import { policyOf } from '../../core/model/samples.ts';
import { eventTime, recordOf, startApi } from './fake-events.ts';
import { samplePorts } from './sample-policies.ts';

const ann: Caller = { user: 'ann', groups: [] };
const refused = (status: number) => (error: unknown) => error instanceof AccessError && error.status === status;
const tokenOf = (value: string) => ({ value, hash: value });
const from = (client: string, isSession = false) => ({ client, isSession });

test('after 30 unknown tokens an address gets 429 for a minute, and tokens known before are accepted from it', async () => {
  let now = 0;
  let asked = 0;
  const review = boundReviews(
    (token) => {
      asked++;
      return Promise.resolve(['anns', 'session'].includes(token) ? ann : undefined);
    },
    () => now,
  );
  assert.equal(await review(tokenOf('anns'), from('10.0.0.1')), ann);
  for (let count = 0; count < 30; count++) assert.equal(await review(tokenOf(`guess-${count}`), from('10.0.0.1')), undefined);
  await assert.rejects(review(tokenOf('guess'), from('10.0.0.1')), refused(429));
  assert.equal(asked, 31);
  assert.equal(await review(tokenOf('anns'), from('10.0.0.1')), ann);
  assert.equal(await review(tokenOf('guess'), from('10.0.0.2')), undefined);
  // Its process may have been started since the session began.
  assert.equal(await review(tokenOf('session'), from('10.0.0.1', true)), ann);
  now += 60_000;
  assert.equal(await review(tokenOf('guess'), from('10.0.0.1')), undefined);
});

test('at most sixteen unknown tokens are checked at a time', async () => {
  const held: ((caller: undefined) => void)[] = [];
  const review = boundReviews(
    () => new Promise((resolve) => held.push(resolve)),
    () => 0,
  );
  const checks = Array.from({ length: 16 }, (_, index) => review(tokenOf(`guess-${index}`), from(`10.0.0.${index}`)));
  await assert.rejects(review(tokenOf('guess'), from('10.0.1.1')), refused(503));
  for (const answer of held) answer(undefined);
  assert.deepEqual(new Set(await Promise.all(checks)), new Set([undefined]));
});

test('a sender with many addresses of one network, or with names as addresses, leaves room for token checks of others', async () => {
  for (const addressOf of [
    (index: number) => `2001:db8::${index.toString(16)}:1`,
    (index: number) => `made-up-${index}`,
    () => '10.0.0.1',
    () => '::ffff:10.0.0.1',
  ]) {
    const held: (() => void)[] = [];
    const review = boundReviews(
      () => new Promise((resolve) => held.push(() => resolve(undefined))),
      () => 0,
    );
    const checks = Array.from({ length: 8 }, (_, index) => review(tokenOf(`guess-${index}`), from(addressOf(index))));
    await assert.rejects(review(tokenOf('guess'), from(addressOf(9))), refused(503));
    const others = ['2001:db8:0:1::1', '10.0.0.2', '::ffff:10.0.0.3', '1:2:3:4:5:6:7:8', 'fe80::1%eth0'];
    checks.push(...others.map((address) => review(tokenOf(`other ${address}`), from(address))));
    assert.equal(held.length, 8 + others.length);
    for (const answer of held) answer();
    await Promise.all(checks);
    const again = review(tokenOf('again'), from('10.0.0.9'));
    held.at(-1)?.();
    assert.equal(await again, undefined);
  }
});

test('made-up addresses share one limit of token checks', async () => {
  const review = boundReviews(
    () => Promise.resolve(undefined),
    () => 0,
  );
  for (let count = 0; count < 30; count++) await review(tokenOf(`guess-${count}`), from(`made up ${count}`));
  await assert.rejects(review(tokenOf('guess'), from('made up')), refused(429));
});

test('the addresses of one network share one limit of token checks', async () => {
  const review = boundReviews(
    () => Promise.resolve(undefined),
    () => 0,
  );
  for (let count = 0; count < 240; count++) await review(tokenOf(`guess-${count}`), from(`2001:db8::${count.toString(16)}:1`));
  await assert.rejects(review(tokenOf('guess'), from('2001:db8::ffff')), refused(429));
  assert.equal(await review(tokenOf('guess'), from('2001:db8:0:1::1')), undefined);
});

test('a caller who names ever new namespaces causes a bounded number of access reviews', async () => {
  let now = 0;
  const asked: string[] = [];
  const authenticate = createAuthenticate(
    {
      kind: 'kubernetes',
      reviewToken: (user) => Promise.resolve({ user, groups: [] }),
      reviewAccess: ({ user }) => {
        asked.push(user);
        return Promise.resolve(false);
      },
    },
    () => now,
  );
  const accessOf = async (user: string) =>
    authenticate({ valuesOf: (name) => (name === 'authorization' ? [`Bearer ${user}`] : []), peer: '10.0.0.1', client: '10.0.0.1' });
  const may = async (user: string, namespace: string) => (await accessOf(user)).may({ verb: 'get', namespace });
  let refusals = 0;
  for (let count = 0; count < 8_000; count++)
    await may('eve', `made-up-${count}`).catch((error: unknown) => assert.ok(refused(429)(error) && ++refusals > 0));
  assert.ok(asked.length < 6_100 && refusals > 1_900, `${asked.length} questions, ${refusals} refusals`);
  assert.equal(await may('ann', 'shop'), false);
  now += 60_000;
  assert.equal(await may('eve', 'shop'), false);
});

test('callers without a valid token are answered 429, and cause one warning in ten seconds', async (t) => {
  let isAway = false;
  const auth: OperationsAuth = {
    kind: 'kubernetes',
    reviewToken: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(undefined)),
    reviewAccess: () => Promise.resolve(true),
  };
  const { app, logged } = startApi(t, auth, []);
  const get = async (token: string) => app.inject({ url: '/api/v1/events', headers: { authorization: `Bearer ${token}` } });
  const answers = new Set<number>();
  for (let count = 0; count < 30; count++) answers.add((await get(`guess-${count}`)).statusCode);
  const { statusCode, headers } = await get('guess');
  assert.deepEqual([[...answers], statusCode, headers['retry-after']], [[401], 429, '5']);

  isAway = true;
  const other = startApi(t, auth, []);
  for (let count = 0; count < 5; count++)
    assert.equal((await other.app.inject({ url: '/api/v1/events', headers: { authorization: `Bearer guess-${count}` } })).statusCode, 503);
  assert.deepEqual([logged.length, other.logged.length], [0, 1]);
});

test('a user has at most thirty-two requests under way', async (t) => {
  const held: (() => void)[] = [];
  const { app } = startApi(t, { kind: 'none' }, [], {
    reader: {
      get: () => Promise.resolve(undefined),
      async *list() {
        await new Promise<void>((resolve) => held.push(resolve));
        yield [];
      },
    },
  });
  const get = async () => (await app.inject({ url: '/api/v1/events', headers: { host: 'localhost' } })).statusCode;
  const answers = Array.from({ length: 33 }, get);
  assert.equal(await Promise.race(answers), 429);
  while (held.length < 32) await nextLoop();
  for (const answer of held) answer();
  assert.deepEqual(
    (await Promise.all(answers)).toSorted((a, b) => a - b),
    [...Array.from({ length: 32 }, () => 200), 429],
  );
  held.length = 0;
  const later = get();
  while (held.length === 0) await nextLoop();
  for (const answer of held) answer();
  assert.equal(await later, 200);
});

test('a page of events causes access reviews for at most two hundred namespaces', async (t) => {
  const records = Array.from({ length: 1_000 }, (_, index) => recordOf(`e${index}`, -index, { [`n${index}/web`]: 'updated' }));
  const asked = new Set<string | undefined>();
  const auth: OperationsAuth = {
    kind: 'kubernetes',
    reviewToken: () => Promise.resolve(ann),
    reviewAccess: (_caller, { namespace }) => {
      asked.add(namespace);
      return Promise.resolve(false);
    },
  };
  const { app } = startApi(t, auth, records);
  const get = async (search: string) => {
    const { body } = await app.inject({ url: `/api/v1/events?${search}`, headers: { authorization: 'Bearer anns' } });
    return JSON.parse(body) as { events: unknown[]; next?: string };
  };
  const { events, next } = await get('limit=500');
  assert.deepEqual([events, typeof next, asked.size], [[], 'string', 201]);
  asked.clear();
  await get('limit=500&policy=n900%2Fweb');
  assert.ok(asked.size <= 2, `${asked.size} questions about one policy`);
});

test('a HEAD request for a stream is refused and leaves no stream open', async (t) => {
  const feed = createPolicyFeed();
  const { app } = startApi(t, { kind: 'none' }, [], { policies: samplePorts([], { feed }) });
  const { statusCode } = await app.inject({ method: 'HEAD', url: '/api/v1/stream', headers: { host: 'localhost' } });
  assert.equal(statusCode, 405);
});

test('a stream of changes in more than two hundred namespaces tells the client to read the list again', async () => {
  const feed = createPolicyFeed();
  let asked = 0;
  const access = { user: 'ann', credentials: { kind: 'none' }, may: () => Promise.resolve(++asked > 0) } as const;
  const stream = createStreams().open(policyStream(feed), access, {});
  await stream.next();
  const next = stream.next();
  for (let index = 0; index < 300; index++) feed.publish({ type: 'updated', object: policyOf({ namespace: `n${index}` }) });
  assert.deepEqual([(await next).value, asked], ['event: open\ndata: {}\n\n', 0]);
  await stream.return(undefined);
});

test('a policy whose name has the maximum length can be requested', async (t) => {
  const { app } = startApi(t, { kind: 'none' }, [], { policies: samplePorts([]) });
  const name = 'a'.repeat(253);
  const { statusCode, body } = await app.inject({ url: `/api/v1/policies/shop/${name}`, headers: { host: 'localhost' } });
  assert.deepEqual([statusCode, body.includes(name)], [404, true]);
});

test('a request that is sent too slowly is answered 408', async (t) => {
  const { app } = startApi(t, { kind: 'none' }, [], { now: () => new Date(eventTime) });
  await app.listen({ host: '127.0.0.1', port: 0 });
  // Node reads both when a request begins.
  Object.assign(app.server, { headersTimeout: 100, requestTimeout: 100 });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET /livez HTTP/1.1\r\nhost: localhost\r\n');
  let answer = '';
  for await (const data of socket) answer += String(data);
  assert.match(answer, /^HTTP\/1\.1 408 /);
});

test('malformed requests do not count as under way once they are answered', async (t) => {
  const { app } = startApi(t, { kind: 'none' }, []);
  const get = async (url: string) => (await app.inject({ url })).statusCode;
  for (let count = 0; count < 40; count++) assert.equal(await get('/api/v1/events?limit=none'), 400);
  assert.equal(await get('/api/v1/events'), 200);
});

test('an answer waits for work that goes first, before it is read and before it is written', async (t) => {
  const turns = createTurns({ elapsed: () => 0, passOn: () => Promise.resolve(), pause: () => new Promise(() => undefined) });
  const push = Promise.withResolvers<void>();
  const later = Promise.withResolvers<void>();
  const order: string[] = [];
  const { app } = startApi(t, { kind: 'none' }, [], {
    turns,
    reader: {
      get: () => Promise.resolve(undefined),
      async *list() {
        order.push('read');
        void turns.first(() => later.promise).then(() => order.push('later push'));
        yield [];
      },
    },
  });
  void turns.first(() => push.promise).then(() => order.push('push'));
  const answered = app.inject({ url: '/api/v1/events', headers: { host: 'localhost' } }).then(() => order.push('answer'));
  for (let turn = 0; turn < 20; turn++) await nextLoop();
  assert.deepEqual(order, []);
  push.resolve();
  for (let turn = 0; turn < 20; turn++) await nextLoop();
  assert.deepEqual(order, ['push', 'read']);
  later.resolve();
  await answered;
  assert.deepEqual(order, ['push', 'read', 'later push', 'answer']);
});
