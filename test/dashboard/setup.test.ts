/** The page of receivers: whether each works, and how it is set up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventTime, ignoredOf, recordOf } from '../service/api/fake-events.ts';
import { openDashboard } from './start-dashboard.ts';

const installation = {
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
  recordOf('event-number-00001', 5, { 'shop/ready': 'updated' }),
  ignoredOf('event-number-00002', 4, { message: 'pushed by <b>' }),
];

/** The card of each receiver by its name. */
async function cards(t: Parameters<typeof openDashboard>[0], headers = {}): Promise<Readonly<Record<string, string>>> {
  const settings = { webhookUrl: 'https://hooks.example.com', teamLabel: 'team' };
  const { text } = await openDashboard(t, { installation, records, more: { settings } }).get('/setup', headers);
  const found = [...text.matchAll(/<section class="receiver">\s*<h3>(\w+)(.*?)<\/section>/gs)];
  return Object.fromEntries(found.map(([, name = '', card = '']) => [name, card]));
}

test('each receiver says whether it delivers, refuses, or waits for its first delivery', async (t) => {
  const { prod = '', ci = '', new: fresh = '' } = await cards(t);
  assert.match(prod, /badge good">Delivers/);
  assert.match(ci, /badge bad">Refused its last delivery/);
  assert.match(fresh, /badge wait" data-again>Waits for the first delivery/);
});

test('a refused delivery says why, and an ignored one as well', async (t) => {
  const { prod = '', ci = '' } = await cards(t);
  assert.match(ci, /<code>401<\/code>\s*<span class="why">the secret is another one/);
  assert.match(prod, /pushed by &lt;b>/);
  assert.doesNotMatch(prod, /<code>401/);
});

test('each receiver has its URL to copy, its last push, and the page of its provider', async (t) => {
  const { prod = '', new: fresh = '' } = await cards(t);
  assert.match(prod, /data-copy="https:\/\/hooks\.example\.com\/webhooks\/prod"/);
  assert.match(prod, /href="\/events\/event-number-00001"/);
  assert.match(fresh, /href="[^"]*\/docs\/receivers\/ghcr\.md"/);
});

test('the texts are those of the reader', async (t) => {
  const { ci = '' } = await cards(t, { 'accept-language': 'zh-CN' });
  assert.match(ci, /密钥不一致/);
});
