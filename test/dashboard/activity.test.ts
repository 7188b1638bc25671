/** The pages about what happened: the record of activity, a push, its replay, and the files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createActivityRoutes } from '../../src/activity/routes.ts';
import type { Activity } from '../../src/core/model/activity.ts';
import { readFrom, timeAt } from '../activity/sample-activity.ts';
import { policyOf } from '../core/model/samples.ts';
import { ignoredOf, recordOf } from '../service/api/fake-events.ts';
import { ann } from '../service/api/sample-policies.ts';
import { exampleOptions } from './example.ts';
import { openDashboard, sessions } from './start-dashboard.ts';

const everyPage = [
  '/activity',
  '/activity?type=action&user=ada%40example.com&from=2026-03-01T10%3A00&to=2026-03-01T13%3A00',
  '/events/event-number-00001',
  '/events/event-number-00001/replay',
];
const pushes = [recordOf('event-number-00001', 5, { 'shop/ready': 'updated' }), ignoredOf('event-number-00002', 4)];
const subject = { kind: 'ImagePolicy', namespace: 'shop', name: 'web' } as const;
const withActivity = (...activities: Parameters<typeof readFrom>[0]) => ({
  features: ['activity'],
  routes: createActivityRoutes(readFrom(activities)),
});

for (const language of ['en', 'zh-CN,zh;q=0.9'])
  test(`every page about activity is shown in ${language}, with nothing that its security policy forbids`, async (t) => {
    const { get } = openDashboard(t, { ...exampleOptions(), records: pushes });
    for (const url of everyPage) {
      const { status, text } = await get(url, { 'accept-language': language });
      assert.equal(status, 200, `${url}: ${text}`);
      assert.doesNotMatch(text, /<[^>]+\s(?:style|on\w+)=|<script>|<style|javascript:|undefined|\[object|NaN/, url);
      assert.match(text, language === 'en' ? /<html lang="en">/ : /<html lang="zh-CN">/);
    }
  });

test('the activity page shows who requested an action and why, and marks requests that name nobody', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get('/activity?type=action');
  assert.match(text, /<b>ada@example\.com<\/b> asked for a rollback of <a href="\/policies\/shop\/checkout">/);
  assert.match(text, /“Payments by card fail since 4\.11\.1”/);
  assert.match((await get('/activity?type=push')).text, / · Event <a href="\/events\//);
  assert.match(
    text,
    /<i title="The request does not name anybody[^"]*">somebody<\/i> had the registry asked for <a href="\/policies\/shop\/cart">/,
  );
  assert.doesNotMatch(text, /Rollout failed/);
});

test('the activity page shows texts of others as text', async (t) => {
  const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>'`;
  const change: Activity = {
    type: 'change',
    at: timeAt(1),
    kind: 'Blocked',
    subject,
    tag: hostile,
    from: [hostile],
    workloads: [hostile],
    message: hostile,
  };
  const action = { type: 'action', at: timeAt(0), action: 'approve', subject, value: hostile, user: hostile, why: hostile } as const;
  const { get } = openDashboard(t, { added: withActivity(change, action) });
  for (const url of ['/activity', `/activity?user=${encodeURIComponent(hostile)}`, `/events/${encodeURIComponent(hostile)}`])
    assert.doesNotMatch((await get(url)).text, /<img|<script>/, url);
});

test('pushes and activity are filtered by label, outcome, namespace and digest, and the URL keeps the filters', async (t) => {
  const labelled = policyOf({ namespace: 'shop', name: 'ready', uid: 'labelled', labels: { team: 'blue' } });
  const { get } = openDashboard(t, {
    policies: { all: () => [labelled] },
    records: [recordOf('event-number-00002', 6, { 'ops/ready': 'failed' }), recordOf('event-number-00001', 5, { 'shop/ready': 'updated' })],
    added: withActivity(),
  });
  for (const path of ['/events', '/activity'])
    for (const [query, ...ids] of [
      ['label=team%3Dblue', 1],
      ['label=team%3Dred'],
      ['outcome=failed', 2],
      ['namespace=shop', 1],
      [`digest=sha256%3A${'0'.repeat(64)}`],
      ['', 2, 1],
    ] as const) {
      const { text } = await get(`${path}?${query}`);
      const found = [...text.matchAll(/href="\/events\/event-number-0000(\d)"/g)].map(([, id]) => Number(id));
      assert.deepEqual([...new Set(found)], ids, `${path}?${query}`);
      assert.equal(/<details class="more" open/.test(text), query !== '', query);
    }
});

test('the activity page links to older entries with the same filters', async (t) => {
  const many = Array.from(
    { length: 51 },
    (_, index) => ({ type: 'action', at: timeAt(100 - index), action: 'suspend', subject, user: `user-${index}` }) as const,
  );
  const { get } = openDashboard(t, { added: withActivity(...many) });
  const [, older = ''] = /rel="next" href="([^"]+)"/.exec((await get('/activity?policy=shop%2Fweb')).text) ?? [];
  const { text } = await get(older.replaceAll('&amp;', '&'));
  assert.match(older, /policy=shop%2Fweb/);
  assert.match(text, /user-50/);
  assert.doesNotMatch(text, /user-49/);
});

test('the activity is exported as CSV and for programs, with the same filters', async (t) => {
  const action = { type: 'action', at: timeAt(0), action: 'approve', subject, value: '1.1.0', user: '=cmd()', why: 'a, "b"' } as const;
  const { get } = openDashboard(t, { added: withActivity(action), records: pushes });
  const csv = await get('/activity.csv?type=action');
  assert.match(String(csv.headers['content-disposition']), /filename="activity\.csv"/);
  assert.deepEqual(csv.text.split('\r\n').slice(1), [
    `${timeAt(0)},action,approve,shop,ImagePolicy,web,'=cmd(),"a, ""b""",1.1.0,,,,,,,,,`,
    '',
  ]);
  const [, pushed = ''] = (await get('/activity.csv?type=push')).text.split('\r\n');
  assert.match(pushed, /^[^,]+,push,updated,.*,event-number-00001,prod,shop\/ready$/);
  const json = JSON.parse((await get('/activity.json')).text) as { type: string }[];
  assert.deepEqual(
    json.map(({ type }) => type),
    ['push', 'action'],
  );
});

test('a push is replayed after a confirmation, with a reason', async (t) => {
  const opened = openDashboard(t, {
    auth: ann('list *', 'get *', 'update shop'),
    identification: sessions,
    records: pushes,
    added: withActivity(),
  });
  const { get, submit, stored } = opened;
  await submit('/sign-in', { token: 'anns-token' });
  assert.match((await get('/events/event-number-00001')).text, /href="\/events\/event-number-00001\/replay"/);
  assert.match((await get('/events/event-number-00001/replay')).text, /name="reason"/);
  const { status, location } = await submit('/events/event-number-00001/replay', { reason: 'the registry was away' });
  assert.equal(status, 303);
  assert.deepEqual(
    stored.map(({ id, replayOf }) => [`/events/${id}?replayed=1`, replayOf]),
    [[location, 'event-number-00001']],
  );
});

test('a push that a receiver ignored cannot be replayed', async (t) => {
  const { get } = openDashboard(t, { records: pushes, added: withActivity() });
  assert.doesNotMatch((await get('/events/event-number-00002')).text, /replay/);
});

test('the page of a policy leads to its activity', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const [, path = ''] = /href="(\/activity\?policy=[^"]+)"/.exec((await get('/policies/shop/checkout')).text) ?? [];
  assert.match((await get(path)).text, /Payments by card fail/);
});

test('without the record of activity, the menu leads to the pushes', async (t) => {
  const { get } = openDashboard(t, { records: pushes });
  assert.match((await get('/')).text, /<a href="\/events">Activity<\/a>/);
  assert.doesNotMatch((await get('/events')).text, /href="\/activity"/);
});
