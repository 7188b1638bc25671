/** Pages that stay open: when they read themselves again, and who shares a reading. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import { createBaseRoutes } from '../../src/bases/api/routes.ts';
import { baseSight } from '../../src/bases/api/view.ts';
import { createTargetRoutes } from '../../src/notify/routes.ts';
import { targetSight } from '../../src/notify/target-causes.ts';
import { createLivePages } from '../../src/dashboard/live-pages.ts';
import { createSpending } from '../../src/dashboard/spending.ts';
import type { Caller } from '../../src/core/model/caller.ts';
import type { Question } from '../../src/service/api/access.ts';
import { createPolicyFeed } from '../../src/service/api/stream.ts';
import { waitFor } from '../harness/wait-for.ts';
import { samplePolicies } from '../service/api/sample-policies.ts';
import { exampleOptions, notifications } from './example.ts';
import { openDashboard, sessions, vouching } from './start-dashboard.ts';

const fast = { share: 1, atLeastMs: 0, atMostMs: 0, roundMs: 0, elapsed: () => performance.now(), processorMs: () => 0 };

/** The mark that a page gets next. */
async function markOf(page: Readable): Promise<string> {
  for (;;) {
    const text = String(page.read() ?? '');
    const mark = /^event: changed\ndata: (\S+)$/m.exec(text)?.[1];
    if (mark !== undefined) return mark;
    await once(page, 'readable');
  }
}

test('live pages that are due at the same time get the same mark, and later changes get a later mark', async () => {
  const live = createLivePages(fast);
  const streams = [new PassThrough(), new PassThrough(), new PassThrough()];
  const pages = streams.map((stream) => live.follow(stream));
  const before = live.mark();
  for (const stream of streams) stream.write('event: changed\ndata: {}\n\n');
  const marks = await Promise.all(pages.map(markOf));
  assert.equal(live.isAfter(before, marks[2]), false);
  assert.equal(live.isAfter(live.mark(), marks[2]), true);
  streams[0]?.write('event: changed\ndata: {}\n\n');
  const [page] = pages;
  assert.ok(page !== undefined);
  const next = await markOf(page);
  assert.equal(live.isAfter(marks[2] ?? '', next), false);
  for (const page of pages) page.destroy();
});

test('the stream of a live page passes comments on, and ends with the stream of the API', async () => {
  const changes = new PassThrough();
  const page = createLivePages(fast).follow(changes);
  changes.write(': nothing new\n\n');
  changes.end();
  let text = '';
  for await (const chunk of page) text += String(chunk);
  assert.equal(text, 'retry: 2000\n\n: nothing new\n\n');
});

test('an event is found however its lines are spread over the parts of the stream', async () => {
  const changes = new PassThrough({ encoding: 'utf8' });
  const page = createLivePages(fast).follow(changes);
  const write = async (...parts: readonly string[]) => {
    for (const part of parts) {
      changes.write(part);
      await nextTurn();
    }
  };
  await write('ev', 'ent: pol', 'icy\ndata: {"event": "event:"}\n\n');
  const first = await markOf(page);
  await write(': nothing new\n', '\nevent:', ' policy\n\n');
  assert.notEqual(await markOf(page), first);
  page.destroy();
});

test('a reading is not taken as newer by a mark of another process or without a mark', () => {
  const [one, other] = [createLivePages(fast), createLivePages(fast)];
  for (const announced of [undefined, '', 'x', other.mark(), `${one.mark()}x`]) assert.equal(one.isAfter(one.mark(), announced), false);
});

/** Users by their tokens: `all` may see everything, `shop` only the namespace shop. */
function openFor(t: TestContext, more: { readonly onQuestion?: (question: Question) => void } = {}) {
  const { policies, ...options } = exampleOptions();
  let lists = 0;
  const feed = createPolicyFeed();
  const dashboard = openDashboard(t, {
    ...options,
    policies: {
      ...policies,
      feed,
      all() {
        lists++;
        return policies.all();
      },
      readPods: (caller) => {
        const name = caller.kind === 'token' ? `pod-for-${caller.token}` : 'pod';
        return Promise.resolve([{ name, startedAt: '2026-03-01T11:00:00Z', containers: [] }]);
      },
    },
    auth: {
      kind: 'kubernetes',
      vouching,
      reviewToken: (token) => Promise.resolve({ user: token, groups: [] }),
      reviewAccess: ({ user }: Caller, question) => {
        more.onQuestion?.(question);
        return Promise.resolve(user.startsWith('all') || question.namespace === 'shop');
      },
    },
    identification: sessions,
    added: {
      features: ['bases', 'notify'],
      routes: [...createBaseRoutes(undefined), ...createTargetRoutes(notifications)],
      sight: [...baseSight, ...targetSight],
    },
  });
  const cookieOf = async (token: string) => `session.0=${await sessions.seal.session.close({ kind: 'token', token })}`;
  return {
    ...dashboard,
    feed,
    lists: () => lists,
    read: async (token: string, url: string, headers: Record<string, string> = {}) =>
      dashboard.app.inject({ url, headers: { host: 'localhost', cookie: await cookieOf(token), ...headers } }),
    /** Opens a page, and resolves to the mark of its first notice. */
    async open(token: string) {
      const answer = await dashboard.app.inject({
        url: '/stream',
        headers: { host: 'localhost', cookie: await cookieOf(token) },
        payloadAsStream: true,
      });
      t.after(() => answer.raw.res.destroy());
      return markOf(answer.stream());
    },
  };
}

test('the cost of reading pages counts the time of all threads while a reading is under way', () => {
  let now = 0;
  const spending = createSpending(() => now, 1);
  now = 10;
  assert.equal(spending.take(), 0);
  const [first, second] = [spending.begin(), spending.begin()];
  now = 14;
  assert.equal(spending.take(), 4, 'also of readings that have not ended');
  first();
  now = 17;
  second();
  now = 30;
  assert.equal(spending.take(), 3 + 2);
  assert.equal(spending.take(), 0);
});

test('the changed part of a live page equals the part in the whole page', async (t) => {
  const { read } = openFor(t);
  for (const url of ['/', '/policies?state=Ready', '/policies/shop/checkout', '/approvals']) {
    const [page, part] = [(await read('all', url)).body, (await read('all', `/live${url}`)).body];
    const main = /<main[^]*<\/main>/.exec(page)?.[0] ?? '';
    assert.ok(main.length > 100 && part.includes(main), url);
    assert.equal(/<title>.*<\/title>/.exec(part)?.[0], /<title>.*<\/title>/.exec(page)?.[0], url);
    assert.doesNotMatch(part, /Signed in/);
  }
});

test('users who may see everything share one reading after a change, and other users read for themselves', async (t) => {
  const { read, lists, open } = openFor(t);
  const announced = { 'x-changed': await open('all-1') };
  const first = await read('all-1', '/live/policies', announced);
  assert.equal(first.statusCode, 200);
  const once = lists();
  for (const user of ['all-1', 'all-2', 'all-3']) assert.equal((await read(user, '/live/policies', announced)).body, first.body);
  assert.equal(lists(), once);
  const limited = await read('shop', '/live/policies?namespace=shop', announced);
  assert.notEqual(limited.body, first.body);
  assert.ok(lists() > once);
  const twice = lists();
  // Without a mark, and with one of another process, everything is read anew.
  await read('all-1', '/live/policies');
  await read('all-1', '/live/policies', { 'x-changed': 'other-1' });
  assert.ok(lists() >= twice + 2);
});

test('pages that refresh regularly share a reading of the last seconds, and are read again after that', async (t) => {
  let now = 1_000;
  t.mock.method(performance, 'now', () => now);
  const { read, lists } = openFor(t);
  const regular = { 'x-regular': '1' };
  await read('all-1', '/live/policies', regular);
  const once = lists();
  now += 3_999;
  await read('all-2', '/live/policies', regular);
  assert.equal(lists(), once);
  await read('shop', '/live/policies?namespace=shop', regular);
  assert.ok(lists() > once, 'who may not see everything reads for himself');
  const twice = lists();
  now += 1;
  await read('all-2', '/live/policies', regular);
  assert.ok(lists() > twice);
});

test('a user who may not see everything is never shown what another one has read', async (t) => {
  const { read, open } = openFor(t);
  const announced = { 'x-changed': await open('all-1') };
  assert.match((await read('all-1', '/live/', announced)).body, /staging/);
  assert.doesNotMatch((await read('shop', '/live/', announced)).body, /staging/);
});

test('a page that is read with the token of a user is never shown to another user', async (t) => {
  const { read, open } = openFor(t);
  const announced = { 'x-changed': await open('all-1') };
  for (const user of ['all-1', 'all-2']) {
    const { body } = await read(user, '/live/policies/shop-eu/payments', announced);
    assert.deepEqual(new Set(body.match(/pod-for-all-\d/g)), new Set([`pod-for-${user}`]));
  }
});

test('a part of a page that the browser has is not sent again, and others are compressed as the browser accepts', async (t) => {
  const { read } = openFor(t);
  const plain = await read('all', '/live/policies');
  const packed = await read('all', '/live/policies', { 'accept-encoding': 'gzip, br' });
  assert.equal(packed.headers['content-encoding'], 'br');
  assert.equal(brotliDecompressSync(packed.rawPayload).toString(), plain.body);
  const again = await read('all', '/live/policies', { 'if-none-match': String(plain.headers.etag) });
  assert.deepEqual([again.statusCode, again.body], [304, '']);
});

test('every permission that a page depends on is reviewed before a reading is shared', async (t) => {
  const asked = new Set<string>();
  const { read } = openFor(t, { onQuestion: ({ verb, resource = 'imagepolicies' }) => void asked.add(`${verb} ${resource}`) });
  await read('all', '/live/policies');
  const known = new Set(asked);
  // What a user may do is asked for each, and those who may do the same share what is written.
  const acted = ['patch imagepolicies', 'patch baseimagepolicies'];
  // The pages of a policy and of a cause offer what their user may do, and no two users share a reading of them.
  const pages = ['/', '/policies', '/images', '/bases', '/bases/platform/java', '/activity', '/events'];
  for (const url of [...pages, '/approvals', '/setup', '/search?q=web']) await read('shop', `/live${url}`);
  assert.deepEqual([...asked].filter((one) => !acted.includes(one)).toSorted(), [...known].toSorted());
});

test('each live page subscribes to the kinds of changes that it shows', async (t) => {
  const { read } = openFor(t);
  const followed = async (url: string) => /data-live="([^"]*)"/.exec((await read('all', url)).body)?.[1];
  assert.equal(await followed('/policies'), '/stream');
  assert.equal(await followed('/'), '/stream?of=policies%2Cpushes%2Cactivity%2Crefusals');
  assert.equal(await followed('/events'), '/stream?of=policies%2Cpushes');
  assert.equal(await followed('/setup'), '/stream?of=deliveries');
});

test('the live page of one policy gets only changes of this policy', async (t) => {
  const { read, app, feed } = openFor(t);
  assert.match((await read('all', '/policies/shop/checkout')).body, /data-live="\/stream\?namespace=shop&amp;name=checkout"/);
  const stream = await app.inject({
    url: '/api/v1/stream?namespace=shop&name=ready&brief=true',
    headers: { host: 'localhost', authorization: 'Bearer all' },
    payloadAsStream: true,
  });
  t.after(() => stream.raw.res.destroy());
  let text = '';
  stream.stream().on('data', (chunk) => (text += String(chunk)));
  await waitFor('the stream to be open', () => Promise.resolve(text.includes('event: open')));
  for (const object of samplePolicies) if (object.name !== 'ready') feed.publish({ type: 'updated', object });
  for (const object of samplePolicies) if (object.name === 'ready') feed.publish({ type: 'updated', object });
  await waitFor('the change', () => Promise.resolve(text.includes('event: changed')));
  assert.equal(text.split('event: changed').length, 2);
});
