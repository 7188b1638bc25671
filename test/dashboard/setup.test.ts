/** The page of receivers: whether each works, and how it is set up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventTime, ignoredOf, recordOf } from '../service/api/fake-events.ts';
import { exampleOptions } from './example.ts';
import { findingsZh } from '../../src/dashboard/texts/findings-zh.ts';
import { sentences } from '../../src/service/doctor/sentences.ts';
import { openDashboard } from './start-dashboard.ts';

const installation = {
  running: () => Promise.resolve({ processes: [] }),
  receivers: () =>
    Promise.resolve([
      { name: 'prod', provider: 'harbor' },
      { name: 'ci', provider: 'generic' },
      { name: 'new', provider: 'ghcr' },
    ]),
  deliveries: () =>
    Promise.resolve(
      new Map([
        ['prod', new Map([[202, eventTime]])],
        [
          'ci',
          new Map([
            [202, eventTime - 60_000],
            [401, eventTime],
          ]),
        ],
      ]),
    ),
  announcements: () => Promise.resolve([]),
};
const records = [
  ignoredOf('event-number-00003', 6, { reason: 'OtherEvent', message: 'not a push: <b>' }),
  ignoredOf('event-number-00004', 6, { receiver: 'ci', reason: 'OtherEvent', message: 'not a push: pull' }),
  recordOf('event-number-00001', 5, { 'shop/ready': 'updated' }),
  ignoredOf('event-number-00002', 4, { message: 'pushed by digest' }),
];

/** The card of each receiver by its name. */
async function cards(t: Parameters<typeof openDashboard>[0], headers = {}): Promise<Readonly<Record<string, string>>> {
  const settings = { webhookUrl: 'https://hooks.example.com', teamLabel: 'team' };
  const { text } = await openDashboard(t, { installation, records, more: { settings } }).get('/setup', headers);
  const found = [...text.matchAll(/<section class="receiver">\s*<h3>(\w+)(.*?)<\/section>/gs)];
  return Object.fromEntries(found.map(([, name = '', card = '']) => [name, card]));
}

test('the setup page shows for each receiver whether it delivers, refuses, or waits for its first delivery', async (t) => {
  const { prod = '', ci = '', new: fresh = '' } = await cards(t);
  assert.match(prod, /badge good">Delivers/);
  assert.match(ci, /badge bad">Refused its last delivery/);
  assert.match(fresh, /badge wait" data-again>Waits for the first delivery/);
});

test('the setup page shows why a delivery was refused or ignored', async (t) => {
  const { prod = '', ci = '' } = await cards(t);
  assert.match(ci, /<code>401<\/code>\s*<span class="why">the secret is another one/);
  assert.match(prod, /not a push: &lt;b>/);
  assert.doesNotMatch(prod, /<code>401/);
});

test('the setup page shows for each receiver its URL, its last push, which no pull is, and the guide of its provider', async (t) => {
  const { prod = '', ci = '', new: fresh = '' } = await cards(t);
  assert.doesNotMatch(ci, /href="\/events/);
  assert.match(prod, /data-copy="https:\/\/hooks\.example\.com\/webhooks\/prod"/);
  assert.match(prod, /href="\/events\/event-number-00001"/);
  assert.match(fresh, /href="[^"]*\/docs\/receivers\/ghcr\.md"/);
});

test('the setup page is in the language of the user', async (t) => {
  const { ci = '' } = await cards(t, { 'accept-language': 'zh-CN' });
  assert.match(ci, /密钥不一致/);
});

/** The section of a page with this id, as text. */
const sectionOf = (html: string, id: string) =>
  (new RegExp(`<section id="${id}">.*?</section>`, 's').exec(html)?.[0] ?? '').replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

test('the setup page shows findings of the doctor, certificates, and versions of the processes', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get('/setup');
  assert.match(
    sectionOf(text, 'doctor'),
    /1 finding needs somebody\..* check ci \(generic\).*→ compare the secret.*Certificates .*valid for 71 days/,
  );
  assert.match(
    sectionOf(text, 'running'),
    /image-watcher 1\.0\.0 API server v1\.34\.2 Redis 7\.0\.15 .* image-watcher-work-\S+ work 1\.0\.0/,
  );
});

test('findings of the doctor are in the language of the user on the setup page and among the causes', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const chinese = { 'accept-language': 'zh-CN' };
  const found = sectionOf((await get('/setup', chinese)).text, 'doctor');
  assert.match(found, /ci（generic）：50 分钟前的最近一次投递因认证失败被拒绝（401）；最近一次接受推送是在 2 天前/);
  assert.match(found, /→ 比较镜像仓库的密钥/);
  assert.match(found, /转换 Webhook 的证书还有 71 天有效/);
  // Log messages are quoted as they are.
  assert.doesNotMatch(found.replaceAll(/“[^”]*”/g, ''), /[a-z]{3,} [a-z]{3,} [a-z]{3,}/, 'no sentence is in English');
  assert.match((await get('/', chinese)).text, /50 分钟前的最近一次投递因认证失败被拒绝/);
});

test('every sentence of a finding of the doctor has the same parameters in each language', () => {
  const parametersOf = (text: string) => [...new Set([...text.matchAll(/\{\d\}/g)].map(([one]) => one))].toSorted();
  for (const [id, text] of Object.entries(sentences))
    assert.deepEqual(parametersOf(findingsZh[id as keyof typeof findingsZh]), parametersOf(text), id);
});

test('the setup page shows that a registry does not answer, and not that it has announced no push', async (t) => {
  const { text } = await openDashboard(t, exampleOptions()).get('/setup');
  const row = /mirror\.example\.com<\/th>.*?<\/tr>/s.exec(text)?.[0] ?? '';
  assert.match(row, /href="\/cause\?id=registry[^"]*">mirror\.example\.com does not answer/);
  assert.doesNotMatch(row, /No push yet/);
});

test('the setup page shows for each target of notifications its last success and failure, and a test button', async (t) => {
  const { get, submit } = openDashboard(t, exampleOptions());
  const targets = sectionOf((await get('/setup')).text, 'notifications');
  assert.match(targets, /operations slack Accepts messages 2026-03-01 11:56 UTC –/);
  assert.match(targets, /on-call pagerduty Fails 2026-03-01 09:30 UTC 2026-03-01 11:10 UTC POST to .* invalid routing key/);
  assert.match((await submit('/notifications/test', { target: 'operations' })).text, /operations has accepted the test message/);
  assert.match((await submit('/notifications/test', { target: 'operations' })).text, /role="alert">operations was just tested/);
  assert.equal((await submit('/notifications/test', { target: 'operations' }, { 'sec-fetch-site': 'cross-site' })).status, 403);
});
