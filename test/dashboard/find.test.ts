/** The search over everything: what is found of each kind, what is opened at once, and that nobody finds what he may not see. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { digestOf, policyOf } from '../core/model/samples.ts';
import { recordOf } from '../service/api/fake-events.ts';
import { ann } from '../service/api/sample-policies.ts';
import { exampleOptions } from './example.ts';
import { openDashboard, sessions } from './start-dashboard.ts';

const everyPage = [
  '/search',
  '/search?q=store',
  '/search?q=shop/cart',
  '/search?q=7.0',
  '/search?q=%22%27%3C%26nothing',
  '/search?q=platform%2F',
  '/search?q=registry.example.com%2Fshop%2Fnothing%3A1.0.0',
];

for (const language of ['en', 'zh-CN,zh;q=0.9'])
  test(`the search is shown in ${language}, with nothing that its security policy forbids`, async (t) => {
    const { get } = openDashboard(t, exampleOptions());
    for (const url of everyPage) {
      const { status, text } = await get(url, { 'accept-language': language });
      assert.equal(status, 200, `${url}: ${text}`);
      assert.doesNotMatch(text, /<[^>]+\s(?:style|on\w+)=|<script>|<style|javascript:|undefined|\[object|NaN/, url);
    }
  });

const find = async (t: TestContext, text: string, options: Parameters<typeof openDashboard>[1] = exampleOptions()) => {
  const { get } = openDashboard(t, options);
  const { text: page, location } = await get(`/search?q=${encodeURIComponent(text)}`);
  const groups = [...page.matchAll(/<section><h2>(.*?) <small>(.*?)<\/small><\/h2>(.*?)<\/section>/gs)];
  return {
    page,
    location,
    groups: Object.fromEntries(
      groups.map(([, title = '', count, body = '']) => [title, `${count} ${/<a href="([^"]*)"/.exec(body)?.[1]}`]),
    ),
  };
};

test('the search shows hits by kind, each with a link', async (t) => {
  const { groups, page } = await find(t, 'payments');
  assert.deepEqual(groups, {
    Policies: '2 /policies/shop-eu/payments',
    Images: '1 /image?repository=harbor.example.com%2Fshop%2Fpayments',
    Workloads: '2 /places?runsIn=shop&amp;workload=shop%2Fpayments',
  });
  assert.match(page, /<input[^>]* name="q" value="payments"/);
  assert.deepEqual((await find(t, 'platform/')).groups['Bases'], '2 /bases/platform/framework');
  assert.match(
    (await find(t, 'no such thing')).page,
    /Nothing that you may see matches &quot;no such thing&quot;|Nothing that you may see matches "no such thing"/,
  );
});

for (const [text, page] of [
  ['shop/checkout-nobody', undefined],
  ['harbor.example.com/shop/storefront', '/image?repository=harbor.example.com%2Fshop%2Fstorefront'],
  ['harbor.example.com/shop/storefront:7.0.0', '/image?repository=harbor.example.com%2Fshop%2Fstorefront&tag=7.0.0#places'],
  [digestOf('f'), `/places?digest=${encodeURIComponent(digestOf('f'))}`],
  ['f'.repeat(64), `/places?digest=${encodeURIComponent(digestOf('f'))}`],
  [` ${digestOf('f')} `, `/places?digest=${encodeURIComponent(digestOf('f'))}`],
  [
    `harbor.example.com/shop/storefront:7.0.1@${digestOf('f')}`,
    '/image?repository=harbor.example.com%2Fshop%2Fstorefront&tag=7.0.1#places',
  ],
  ['platform/java', '/bases/platform/java'],
  ['push-checkout-2-4-00', '/events/push-checkout-2-4-00'],
  // A policy and a workload have this name.
  ['shop/cart', undefined],
  ['fffffff', undefined],
] as const)
  test(`the search for ${text.trim().slice(0, 60)} opens ${page === undefined ? 'the list of hits' : 'its page directly'}`, async (t) => {
    assert.equal((await find(t, text)).location, page);
  });

test('the search for a digest finds its pushes', async (t) => {
  const digest = digestOf('f');
  const pushed = recordOf('push-of-the-digest-1', 5, { 'shop/storefront': 'updated' });
  const record = { ...pushed, event: { ...pushed.event, digest } };
  const { location, groups } = await find(t, `other@${digest}`, { ...exampleOptions(), records: [record] });
  assert.deepEqual([location, groups], [undefined, { Pushes: '1 /events/push-of-the-digest-1' }]);
});

test('the search shows ten hits of a kind, with a link to all', async (t) => {
  const many = Array.from({ length: 11 }, (_, index) => policyOf({ name: `many-${index}`, uid: `u${index}` }));
  const { page, groups } = await find(t, 'many', { policies: { all: () => many } });
  assert.match(groups['Policies'] ?? '', /^10\+ /);
  assert.match(page, /<a href="\/policies\?search=many">Show all<\/a>/);
});

test('the search finds nothing that the user may not see, and says why it fails', async (t) => {
  const { policies, records } = exampleOptions();
  const few = openDashboard(t, { auth: ann('list shop', 'get shop'), identification: sessions, policies, records });
  await few.submit('/sign-in', { token: 'anns-token', back: '/' });
  for (const [text, visible] of [
    ['storefront', /shop\/<\/span>storefront/],
    ['mailer', undefined],
    ['7.1.0-rc.1', undefined],
    [digestOf('9'), undefined],
    ['staging', undefined],
  ] as const) {
    const { text: whole, status } = await few.get(`/search?q=${encodeURIComponent(text)}`);
    assert.equal(status, 200);
    const [, page = ''] = /<main(.*)<\/main>/s.exec(whole) ?? [];
    assert.doesNotMatch(page, /shop-eu|shop-us|href="[^"]*(?:staging|mailer|rc\.1)/, text);
    assert.match(page, visible ?? /Nothing that you may see/);
  }
  const failing = await find(t, 'web', { policies: { areKnown: () => false } });
  assert.match(failing.page, /role="alert">the policies are not known at present/);
});

test('the search shows its query as text', async (t) => {
  const hostile = `"><img src=x onerror=alert(1)>`;
  const { page } = await find(t, hostile);
  assert.doesNotMatch(page, /<img/);
  assert.match(page, /value="&quot;><img|value="&quot;&gt;&lt;img|value="&quot;>&lt;img/);
});
