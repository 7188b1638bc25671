/** The pages of bases, without a browser: what each user sees, what can be done, and that text of others stays text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBaseRoutes } from '../../src/bases/api/routes.ts';
import type { BaseView } from '../../src/bases/api/view.ts';
import { basePolicyOf, java, newJava, sampleView } from '../bases/api/sample-bases.ts';
import { digestOf, policyOf, specOf } from '../core/model/samples.ts';
import { ann } from '../service/api/sample-policies.ts';
import { openDashboard, sessions } from './start-dashboard.ts';

const addedFrom = (view: BaseView) => ({ features: ['bases'], routes: createBaseRoutes(view) });
const added = addedFrom(sampleView());
const web = policyOf({ name: 'web', spec: specOf({ repository: { registry: 'harbor.example.com', path: 'shop/web' } }) });
/** The text of the row of a table that has a text. */
const rowWith = (page: string, text: string) => page.split('<tr>').find((row) => row.includes(text)) ?? '';

const everyPage = [
  '/bases',
  '/bases?search=java&state=Progressing',
  '/bases/platform/java',
  '/bases/platform/java?state=Behind&runsIn=shop&search=web&done=approve',
  '/bases/platform/framework/approve',
  '/bases/platform/java/reject',
  '/bases/platform/java/check',
  '/bases/other/node',
  '/policies/shop/web',
  '/approvals',
];

for (const language of ['en', 'zh-CN,zh;q=0.9'])
  test(`every page of bases is shown in ${language}, with nothing that its security policy forbids`, async (t) => {
    const { get } = openDashboard(t, { policies: { all: () => [web], find: () => web }, added });
    for (const url of everyPage) {
      const { status, text } = await get(url, { 'accept-language': language });
      assert.equal(status, 200, `${url}: ${text}`);
      assert.doesNotMatch(text, /<[^>]+\s(?:style|on\w+)=|<script>|<style|javascript:|undefined|\[object|NaN/, url);
      assert.match(text, language === 'en' ? /<html lang="en">/ : /<html lang="zh-CN">/);
    }
  });

test('the page of a base shows versions, waves, and each image with the reason and the next step', async (t) => {
  const { text } = await openDashboard(t, { added }).get('/bases/platform/java');
  assert.match(text, /<h1>platform\/java<\/h1>/);
  assert.match(text, /<progress max="3" value="1" aria-label="1 of 3 workloads are rolled out">/);
  assert.match(rowWith(text, 'shop/pinned@'), /pinned by digest.*Next step:<\/b> pinned by digest: trigger a rebuild, or unpin/s);
  assert.match(rowWith(text, 'shop/init-db'), /init container.*only with initContainers: true/s);
  assert.match(rowWith(text, 'shop/model'), /Not examined.*image volume.*rebuild it/s);
  assert.match(
    rowWith(text, 'shop/checkout'),
    /Refused.*EntrypointChanged: the entrypoint of the base changes.*name the rule in rebase\.allow/s,
  );
  assert.match(rowWith(text, 'shop/legacy'), /Other line.*17\.0\.9/s);
  assert.match(rowWith(text, 'shop/web:7'), /Behind.*21\.0\.6.*2026-03-01 09:00 UTC.*platform\/framework/s);
  assert.match(rowWith(text, '21.0.7, 21<'), /21\.0\.7, 21.*2026-03-01 09:00 UTC.*Selected/s);
  assert.match(text, /3 versions were seen/);
  // Every table says what it is, and every section has a heading.
  assert.equal(text.match(/<table/g)?.length, text.match(/<caption>/g)?.length);
  assert.equal(text.match(/<section/g)?.length, text.match(/<h2>/g)?.length);
});

test('the lists of bases and images are filtered and paged by links and forms alone', async (t) => {
  const { get } = openDashboard(t, { added });
  const behind = (await get('/bases/platform/java?state=Behind')).text;
  assert.match(behind, /shop\/web:7/);
  assert.doesNotMatch(behind, /shop\/cart/);
  assert.match((await get('/bases/platform/java?runsIn=data')).text, /shop\/init-db/);
  assert.match((await get('/bases/platform/java?search=nothing')).text, /No image matches/);
  assert.match((await get('/bases/platform/java?state=Lost')).text, /role="alert">[^<]*one of/);
});

test('a base is approved by the digest that the page has shown, and rejected afterwards', async (t) => {
  const { get, submit, patched } = openDashboard(t, {
    auth: ann('get baseimagepolicies *', 'list baseimagepolicies *', 'patch baseimagepolicies *', 'list *', 'get *'),
    identification: sessions,
    added,
  });
  await submit('/sign-in', { token: 'anns-token' });
  assert.match((await get('/approvals')).text, /Bases that wait for approval.*href="\/bases\/platform\/framework\/approve"/s);
  assert.match((await get('/bases/platform/framework')).text, /href="\/bases\/platform\/framework\/approve">Approve/);
  const { text } = await get('/bases/platform/framework/approve');
  assert.match(text, /Approve 3\.2\.0@sha256:d+\?/);
  const answer = await submit('/bases/platform/framework/approve', { tag: '3.2.0', digest: digestOf('d') });
  assert.deepEqual([answer.status, answer.location], [303, '/bases/platform/framework?done=approve']);
  assert.equal((await submit('/bases/platform/framework/approve', { tag: '3.3.0', digest: digestOf('d') })).status, 409);
  const foreign = await submit(
    '/bases/platform/framework/approve',
    { tag: '3.2.0', digest: digestOf('d') },
    { 'sec-fetch-site': 'cross-site' },
  );
  assert.equal(foreign.status, 403);
  assert.deepEqual(
    patched.map(({ policy, of }) => `${of} ${policy}`),
    ['baseimagepolicies platform/framework'],
  );
  assert.match((await get('/bases/platform/java/reject')).text, /no effect/, 'nothing was approved');

  const annotations = { 'operator.technomad.dev/approve': `${newJava.tag}@${newJava.digest}` };
  const approved = basePolicyOf({ name: 'java', image: java, spec: { mode: 'Approval' }, status: { latest: newJava }, annotations });
  const other = openDashboard(t, {
    auth: ann('get baseimagepolicies *', 'patch baseimagepolicies *', 'list *'),
    identification: sessions,
    added: addedFrom(sampleView({ find: () => approved })),
  });
  await other.submit('/sign-in', { token: 'anns-token' });
  assert.match((await other.get('/bases/platform/java/reject')).text, /Nothing more is begun for it until a release.*required/s);
  assert.equal(
    (await other.submit('/bases/platform/java/reject', { tag: newJava.tag, digest: newJava.digest, reason: 'breaks' })).status,
    303,
  );
  assert.equal(other.patched.length, 1);
});

test('the page of an application shows its chain of bases, the nearest first', async (t) => {
  const { get } = openDashboard(t, { policies: { all: () => [web], find: () => web }, added });
  const { text } = await get('/policies/shop/web');
  assert.match(
    text,
    /Its bases.*\/bases\/platform\/framework.*approve the base.*\/bases\/platform\/java.*bring the base in between forward/s,
  );
});

test('a user without permissions sees no base and no image of one', async (t) => {
  const { get, submit } = openDashboard(t, {
    auth: ann('list *', 'get *'),
    identification: sessions,
    policies: { all: () => [web], find: () => web },
    added,
  });
  await submit('/sign-in', { token: 'anns-token' });
  const { status, text } = await get('/bases/platform/java');
  assert.equal(status, 403);
  assert.match(text, /this needs permission to get baseimagepolicies in the namespace platform/);
  const list = (await get('/bases')).text;
  assert.match(list, /You see no bases/);
  const page = (await get('/policies/shop/web')).text;
  for (const shown of [text, list, page]) assert.doesNotMatch(shown, /base-java|21\.0\.7|framework/);
});

test('without the wing of bases, the dashboard has no entry for them and no page', async (t) => {
  const { get } = openDashboard(t, { policies: { all: () => [web], find: () => web } });
  for (const url of ['/', '/approvals', '/policies/shop/web']) assert.doesNotMatch((await get(url)).text, /\/bases/, url);
  assert.equal((await get('/bases/platform/java')).status, 404);
  assert.match((await openDashboard(t, { added }).get('/')).text, /<a href="\/bases">Bases<\/a>/);
});

test('the pages of bases show texts of registries and workloads as text', async (t) => {
  const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>'`;
  const status = {
    latest: { tag: hostile, digest: digestOf('b'), selectedAt: '2026-03-01T09:00:00Z' },
    pendingApproval: { tag: hostile, digest: digestOf('b') },
    waves: { base: digestOf('b'), pending: 1, progressing: 0, done: 0, failed: 1, stopped: hostile },
    images: { total: 1, current: 0, behind: 1, unknown: 0, unrelated: 0 },
    dependents: [
      { image: hostile, base: hostile, state: 'Refused', workloads: 1, example: hostile, reason: hostile.slice(0, 60), message: hostile },
    ],
    history: [
      { tag: hostile, digest: hostile, selectedAt: '2026-03-01T09:00:00Z', requested: 0, updated: 0, failed: 0, result: 'Rejected' },
    ],
    rejected: [{ digest: digestOf('b'), tag: hostile, at: '2026-03-01T09:00:00Z', message: hostile }],
  } as const;
  const policy = basePolicyOf({ name: 'java', image: java, spec: { mode: 'Approval' }, status });
  const version = { digest: digestOf('b'), tags: [hostile], seenAt: '2026-03-01T09:00:00Z', platforms: [] };
  const view = sampleView({ all: () => [policy], find: () => policy, readVersions: () => Promise.resolve([version]) });
  const { get } = openDashboard(t, { added: addedFrom(view) });
  for (const url of [
    '/bases',
    '/bases/platform/java',
    '/bases/platform/java/approve',
    `/bases/platform/java?search=${encodeURIComponent(hostile)}`,
  ]) {
    const { status: code, text } = await get(url);
    assert.equal(code, 200, url);
    assert.match(text, /&lt;img|%3Cimg|&quot;>/, url);
    assert.doesNotMatch(text, /<img|<script>/, url);
  }
});

test('the page of a base subscribes to changes of bases', async (t) => {
  const { get } = openDashboard(t, { added });
  assert.match((await get('/bases/platform/java')).text, /data-live="\/stream\?of=bases"/);
  assert.match((await get('/policies')).text, /data-live="\/stream"/);
});
