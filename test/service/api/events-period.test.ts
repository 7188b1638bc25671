/** Events of a period, a digest, a namespace and a label, in the API and on the page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDashboard } from '../../dashboard/start-dashboard.ts';
import { digestOf, policyOf } from '../../core/model/samples.ts';
import { ignoredOf, recordOf, startApi } from './fake-events.ts';
import { ann, samplePorts } from './sample-policies.ts';

/** Received 1, 2 and 3 seconds before noon. */
const records = [1, 2, 3].map((seconds) => recordOf(`event-number-0000${seconds}`, -seconds, { 'shop/ready': 'updated' }));
const found = (text: string) => [...text.matchAll(/event-number-0000(\d)/g)].map(([, number]) => Number(number));

for (const [query, numbers] of [
  ['until=2026-03-01T11:59:58Z', [2, 3]],
  ['since=2026-03-01T11:59:58Z&until=2026-03-01T11:59:58Z', [2]],
  ['until=2026-03-01T11:59:58Z&limit=1', [2]],
  ['until=2026-02-01T00:00:00Z', []],
  [`digest=${digestOf('f')}`, []],
] as const)
  test(`the API lists the right events with ${query}`, async (t) => {
    const { app } = startApi(t, { kind: 'none' }, records, { policies: samplePorts([]) });
    const { statusCode, body } = await app.inject({ url: `/api/v1/events?${query}`, headers: { host: 'localhost:9090' } });
    assert.equal(statusCode, 200, body);
    assert.deepEqual([...new Set(found(body.replace(/"next".*/, '')))], numbers);
  });

test('events of a digest are those that announced it, and those for which a policy found it', async (t) => {
  const [first, second, third] = records;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const announced = { ...first, event: { ...first.event, digest: digestOf('a') } };
  const result = { ...[...second.results.values()][0], digest: digestOf('a') } as NonNullable<ReturnType<typeof second.results.get>>;
  const verified = { ...second, results: new Map([['shop/ready', result]]) };
  const { app } = startApi(t, { kind: 'none' }, [announced, verified, third], { policies: samplePorts([]) });
  const { body } = await app.inject({ url: `/api/v1/events?digest=${digestOf('a')}`, headers: { host: 'localhost:9090' } });
  assert.deepEqual([...new Set(found(body))], [1, 2]);
});

const labelled = [
  policyOf({ name: 'web', labels: { team: 'shop' } }),
  policyOf({ namespace: 'ops', name: 'web', labels: { team: 'ops' } }),
  policyOf({ name: 'bare' }),
];
const byPolicy = [
  recordOf('event-number-00001', -1, { 'shop/web': 'updated', 'shop/bare': 'updated' }),
  recordOf('event-number-00002', -2, { 'shop/bare': 'updated' }),
  recordOf('event-number-00003', -3, { 'shop/bare': 'updated', 'ops/web': 'updated' }),
  recordOf('event-number-00004', -4, {}, 'unwatched'),
  ignoredOf('event-number-00005', -5),
];

for (const [query, rights, numbers] of [
  ['label=team=shop', ['list *'], [1]],
  ['label=team=ops', ['list *'], [3]],
  ['label=team=nobody', ['list *'], []],
  ['label=constructor=x', ['list *'], []],
  ['namespace=ops', ['list *'], [3]],
  ['namespace=shop&label=team=ops', ['list *'], []],
  // The third event is seen because of shop/bare: it must not say that a policy of ops has the label, or that there is one.
  ['label=team=ops', ['get shop'], []],
  ['namespace=ops', ['get shop'], []],
  ['label=team=shop', ['get shop'], [1]],
] as const)
  test(`the API lists the right events with ${query} for a caller who may ${rights.join()}`, async (t) => {
    const policies = samplePorts([], { all: () => labelled });
    const { app } = startApi(t, ann(...rights), byPolicy, { policies });
    const { statusCode, body } = await app.inject({ url: `/api/v1/events?${query}`, headers: { authorization: 'Bearer anns-token' } });
    assert.equal(statusCode, 200, body);
    assert.deepEqual([...new Set(found(body))], numbers);
  });

test('a process without the role work answers 503 to a filter of events by the label of policies', async (t) => {
  const { app } = startApi(t, ann('list *'), byPolicy);
  const headers = { authorization: 'Bearer anns-token' };
  assert.equal((await app.inject({ url: '/api/v1/events?label=team=shop', headers })).statusCode, 503);
  assert.equal((await app.inject({ url: '/api/v1/events?label=team', headers })).statusCode, 400);
});

test('the dashboard keeps the period and the receiver of its list of events in the address of the next page', async (t) => {
  const { get } = openDashboard(t, { records });
  const { text } = await get('/events?from=2026-03-01T11:59&to=2026-03-01T11:59:58');
  assert.deepEqual([...new Set(found(text))], [2, 3]);
  assert.match(text, /name="from" value="2026-03-01T11:59"/);
  assert.deepEqual([...new Set(found((await get('/events?receiver=nobody')).text))], []);
  assert.match((await get('/events?from=yesterday')).text, /role="alert"/);
});
