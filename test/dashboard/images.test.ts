/** The pages about images: repositories, versions by namespace, where a digest runs, and the file for spreadsheets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOf, policyOf, specOf, workloadOf } from '../core/model/samples.ts';
import { viewOf } from '../core/rollout/rollout-samples.ts';
import { ann, samplePorts } from '../service/api/sample-policies.ts';
import { exampleOptions } from './example.ts';
import { openDashboard, sessions } from './start-dashboard.ts';

const repository = 'harbor.example.com/shop/storefront';
const page = `/image?repository=${encodeURIComponent(repository)}`;

const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

const everyPage = [
  '/images',
  '/images?search=web&runsIn=shop',
  '/image?repository=harbor.example.com%2Fshop%2Fstorefront',
  '/image?repository=harbor.example.com%2Fshop%2Fstorefront&tag=7.0.0&runsIn=shop-us&state=Behind',
  '/places',
  '/places?digest=sha256%3Affffffff&repository=nginx',
];

for (const language of ['en', 'zh-CN,zh;q=0.9'])
  test(`every page about images is shown in ${language}, with nothing that its security policy forbids`, async (t) => {
    const { get } = openDashboard(t, exampleOptions());
    for (const url of everyPage) {
      const { status, text } = await get(url, { 'accept-language': language });
      assert.equal(status, 200, `${url}: ${text}`);
      assert.doesNotMatch(text, /<[^>]+\s(?:style|on\w+)=|<script>|<style|javascript:|undefined|\[object|NaN/, url);
      assert.match(text, language === 'en' ? /<html lang="en">/ : /<html lang="zh-CN">/);
    }
  });

/** The rows of the tables of a page, as texts. */
function rowsOf(text: string, kind: string): string[] {
  const [, table = ''] = new RegExp(`<table class="cards ${kind}">(.*?)</table>`, 's').exec(text) ?? [];
  return [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].slice(1).map(([, row = '']) => textOf(row));
}

test('the list of images shows how many containers of each repository are behind, and links to them', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get('/images');
  assert.match(text, /aria-current="page">Images</);
  const rows = rowsOf(text, 'repositories');
  assert.ok(rows.includes(`${repository} 1 behind 4 3 4 4`), rows.join('\n'));
  assert.ok(rows.includes('harbor.example.com/shop/checkout none 1 1 1 1'), rows.join('\n'));
  assert.match(text, /href="\/image\?repository=harbor\.example\.com%2Fshop%2Fstorefront&amp;state=Behind#places"/);
  assert.deepEqual(rowsOf((await get('/images?search=checkout')).text, 'repositories').length, 1);
  assert.match((await get('/images?search=nothing')).text, /No image matches/);
});

test('the versions of a repository are counted by namespace, and each count leads to its containers', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get(page);
  assert.match(text, /<th scope="col">shop<\/th><th scope="col">shop-eu<\/th><th scope="col">shop-us<\/th><th scope="col">staging<\/th>/);
  assert.deepEqual(
    rowsOf(text, 'matrix').map((row) => row.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, 'TIME')),
    [
      '7.1.0-rc.1 999999999999 TIME 1 1 ◎ selected',
      '7.0.1 ffffffffffff TIME 2 1 ◎ selected 1 ◎ selected 0 ◎ selected',
      '7.0.0 TIME 1 ▲ behind 1 ▲ behind',
    ],
  );
  const [, link = ''] = /href="([^"]*runsIn=shop-us[^"]*)"/.exec(text) ?? [];
  const { text: filtered } = await get(link.replaceAll('&amp;', '&').replace('#places', ''));
  const rows = rowsOf(filtered, 'places');
  assert.equal(rows.length, 1);
  assert.match(
    rows[0] ?? '',
    /^shop-us\/ storefront Deployment, storefront 7\.0\.0 7\.0\.1 Behind Since .* shop-us\/ storefront Waiting Window: /,
  );
  assert.match(filtered, /Show every container of this image/);
});

test('the page of a policy links to the page of its image', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  assert.ok((await get('/policies/shop/storefront')).text.includes(`<a href="${page}"><code>${repository}</code></a>`));
});

test('the page of a digest shows where it runs, also by its first digits', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const whole = `/places?digest=${encodeURIComponent(digestOf('f'))}`;
  assert.ok((await get(page)).text.includes(`href="${whole}"`));
  for (const address of [whole, '/places?digest=fffffff'])
    assert.deepEqual(
      rowsOf((await get(address)).text, 'places').map((row) => row.split(' Deployment')[0]),
      ['shop-eu/ storefront', 'shop/ storefront'],
    );
  assert.match((await get(`/places?digest=${digestOf('0')}`)).text, /No container matches/);
  assert.match((await get('/places?digest=nothing')).text, /role="alert">[^<]*is a digest/);
  assert.equal((await get('/image')).status, 404);
});

test('the page of an image shows twelve versions and ten namespaces, with a link to all versions', async (t) => {
  const apps = Array.from({ length: 15 }, (_, index) => {
    const target = { kind: 'Deployment', namespace: `team-${index}`, name: 'web' };
    const status = { latest: { tag: '2.0.0', selectedAt: '2026-03-01T11:00:00Z' } };
    return {
      policy: policyOf({ ...target, uid: `uid-${index}`, spec: specOf({ targets: [target] }), status }),
      workload: workloadOf({ web: `registry.example.com/shop/web:1.${index}.0` }, target),
    };
  });
  const cluster = { ...samplePorts([]).cluster, ...viewOf(...apps.map((one) => one.workload)) };
  const { get } = openDashboard(t, { policies: { all: () => apps.map((one) => one.policy), cluster } });
  const { text } = await get('/image?repository=registry.example.com/shop/web');
  assert.deepEqual([rowsOf(text, 'matrix').length, text.match(/<th scope="col">team-/g)?.length], [12, 10]);
  assert.match(text, /5 more namespaces are only counted/);
  const [, link = ''] = /href="([^"]*)">4 more versions</.exec(text) ?? [];
  assert.equal(rowsOf((await get(link.replaceAll('&amp;', '&'))).text, 'matrix').length, 16);
});

test('the pages of images show texts from workloads as text', async (t) => {
  const hostile = `"><img src=x onerror=alert(1)>'`;
  const target = { kind: 'Deployment', namespace: 'shop', name: 'web' };
  const condition = { type: 'Held', status: 'True', reason: 'Held', message: hostile, lastTransitionTime: '2026-03-01T11:00:00Z' } as const;
  const latest = { tag: hostile, digest: hostile, selectedAt: hostile };
  const policies = [
    policyOf({ spec: specOf({ targets: [target] }), status: { conditions: [condition], latest } }),
    policyOf({
      name: 'two',
      spec: specOf({ targets: [target] }),
      status: { conditions: [condition], latest: { ...latest, tag: '9.0.0' } },
    }),
  ];
  const workload = workloadOf({ [hostile]: { image: 'registry.example.com/shop/web:1.2.3', imageSetAt: hostile } });
  const cluster = { ...samplePorts([]).cluster, ...viewOf(workload) };
  const { get } = openDashboard(t, { policies: { all: () => policies, cluster } });
  for (const url of [
    '/images',
    '/image?repository=registry.example.com/shop/web',
    '/places',
    `/places?search=${encodeURIComponent(hostile)}`,
  ]) {
    const { status, text } = await get(url);
    assert.equal(status, 200, url);
    assert.doesNotMatch(text, /<img/, url);
  }
});

test('the list of containers is exported as CSV, with the same filters and only what the user may see', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { headers, text } = await get(`/places.csv?repository=${encodeURIComponent(repository)}&state=Behind`);
  assert.match(String(headers['content-disposition']), /filename="places\.csv"/);
  const [head = '', row = '', ...rest] = text.split('\r\n');
  assert.match(head, /^repository,tag,digest,namespace,kind,name,container,state,selected,selectedDigest,reason,/);
  assert.match(row, new RegExp(`^${repository},7\\.0\\.0,,shop-us,Deployment,storefront,storefront,Behind,7\\.0\\.1,sha256:f{64},Window,`));
  assert.deepEqual(rest, ['']);
  const { policies } = exampleOptions();
  const few = openDashboard(t, { auth: ann('list shop', 'get shop'), identification: sessions, policies });
  await few.submit('/sign-in', { token: 'anns-token', back: '/' });
  assert.deepEqual(
    [...new Set((await few.get('/places.csv')).text.split('\r\n').map((line) => line.split(',')[3]))],
    ['namespace', 'shop', undefined],
  );
});
