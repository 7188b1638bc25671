/** The list of policies: several states at once, values with their counts, groups, one line each, and the file for spreadsheets. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { digestOf, policyOf, specOf } from '../core/model/samples.ts';
import { ann, samplePolicies } from '../service/api/sample-policies.ts';
import { exampleOptions } from './example.ts';
import { AccessError } from '../../src/service/api/access.ts';
import { openDashboard, sessions } from './start-dashboard.ts';

const elsewhere = { registry: 'harbor.example.com', path: 'ops/tool' };
const teams = [
  policyOf({ namespace: 'ops', name: 'a', uid: 'a', labels: { team: 'blue' }, spec: specOf({ repository: elsewhere }) }),
  policyOf({ namespace: 'ops', name: 'b', uid: 'b', labels: { team: 'red' } }),
];

function open(t: TestContext) {
  const { get } = openDashboard(t, { policies: { all: () => [...samplePolicies, ...teams] } });
  return async (query: string) => {
    const { status, text } = await get(`/policies${query}`);
    assert.equal(status, 200, text);
    return {
      text,
      names: [...text.matchAll(/<a href="\/policies\/([a-z]+\/[a-z]+)"/g)].map(([, name]) => name),
      groups: [...text.matchAll(/<h2 class="group">([^<]*) <small>(\d+)/g)].map(([, name, count]) => `${name} ${count}`),
    };
  };
}

test('the list of policies is filtered by several states, each with its count', async (t) => {
  const read = open(t);
  const { text, names } = await read('?state=Failed&state=Stalled&namespace=shop');
  assert.deepEqual(names, ['shop/failed', 'shop/stalled']);
  assert.match(text, /value="Failed" checked\/?>Failed <b>1<\/b>/);
  assert.match(text, /value="Ready"\/?>Ready <b>1<\/b>/);
  assert.match(text, /2 policies/);
  assert.deepEqual((await read('?state=Failed,Stalled')).names, names);
});

test('the list of policies is filtered by registry and team, each with its count, if there is more than one', async (t) => {
  const read = open(t);
  const { text } = await read('');
  assert.match(text, /<option value="harbor\.example\.com">harbor\.example\.com \(1\)/);
  assert.match(text, /<option value="blue">blue \(1\)<\/option><option value="red">red \(1\)/);
  assert.deepEqual((await read('?team=red')).names, ['ops/b']);
  assert.deepEqual((await read('?registry=harbor.example.com')).names, ['ops/a']);
  assert.deepEqual((await read('?team=blue&registry=registry.example.com')).names, []);
  assert.doesNotMatch((await read('?namespace=shop')).text, /name="team"/);
});

test('the list of policies is filtered by digest, receiver and time of the last change, which the URL keeps', async (t) => {
  const read = open(t);
  assert.match((await read('')).text, /<details class="more"><summary>More filters/);
  const { text, names } = await read(`?digest=${digestOf('b')}`);
  assert.ok(names.includes('shop/approval') && names.length < samplePolicies.length, names.join());
  assert.match(text, /<details class="more" open/);
  assert.match(text, /href="\/policies\.csv\?digest=sha256/);
  assert.deepEqual((await read('?receiver=nobody')).names, []);
  const changed = policyOf({ name: 'changed', uid: 'c', status: { history: [{ at: '2026-03-01T10:00:00Z', tag: '1.0.0' } as never] } });
  const { get } = openDashboard(t, { policies: { all: () => [changed] } });
  assert.match((await get('/policies?from=2026-03-01T09%3A59&to=2026-03-01T10%3A01')).text, /shop\/<\/span>changed|>changed</);
  assert.match((await get('/policies?from=2026-03-01T10%3A01')).text, /No polic/);
});

test('the list of policies is grouped by cause, namespace or image', async (t) => {
  const read = open(t);
  assert.deepEqual((await read('?group=namespace')).groups, ['ops 3', `shop ${samplePolicies.length - 1}`]);
  assert.equal((await read('?group=image')).groups.at(-1)?.startsWith('registry.example.com/shop/web '), true);
  const { groups } = await read('?group=cause');
  assert.match(groups[0] ?? '', /^Failed: registry\.example\.com\/shop\/web fails its rollout 1$/);
  assert.equal(new Set(groups).size, groups.length);
  assert.deepEqual((await read('?group=nothing')).groups, []);
});

test('the heading of a group of policies names their cause, as on the first page, in the language of the user', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const groupsIn = async (language: string) => {
    const { text } = await get('/policies?group=cause', { 'accept-language': language });
    return [...text.matchAll(/<h2 class="group">([^<]*) <small>(\d+)/g)].map(([, name, count]) => `${name} ${count}`);
  };
  const groups = await groupsIn('en');
  assert.ok(groups.includes('Failed: harbor.example.com/shop/payments fails its rollout 2'), groups.join());
  assert.ok(groups.includes('Waiting: mirror.example.com does not answer 3'), groups.join());
  assert.ok((await groupsIn('zh-CN')).includes('等待中: mirror.example.com 没有响应 3'));
});

test('the size of a group of policies is shown only if the whole list is on the page', async (t) => {
  const many = Array.from({ length: 101 }, (_, index) => policyOf({ name: `p${index}`, uid: `u${index}` }));
  const { get } = openDashboard(t, { policies: { all: () => many } });
  const { text } = await get('/policies?group=namespace');
  assert.match(text, /<h2 class="group">shop <\/h2>/);
  const next = /<a rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? assert.fail();
  assert.match((await get(next)).text, /<h2 class="group">shop <\/h2>/);
});

test('the list of policies shows a reason in one line, and the whole of a cut reason as tooltip', async (t) => {
  const message = `${'a long reason '.repeat(20)}end`;
  const condition = { type: 'Stalled', status: 'True', reason: 'NotSigned', message, lastTransitionTime: '2026-03-01T11:00:00Z' } as const;
  const long = policyOf({ status: { conditions: [condition] } });
  const { get } = openDashboard(t, { policies: { all: () => [long] } });
  const [, title, shown = ''] = /<span class="reason" title="([^"]*)">([^<]*)</.exec((await get('/policies')).text) ?? [];
  assert.deepEqual([title, shown.length <= 60, shown.endsWith('…')], [message, true, true]);
});

test('the list of policies is exported as CSV, with the same filters, and without formulas', async (t) => {
  const condition = { type: 'Stalled', status: 'True', reason: 'NotSigned', lastTransitionTime: '2026-03-01T11:00:00Z' } as const;
  const hostile = policyOf({ name: 'evil', uid: 'e', status: { conditions: [{ ...condition, message: '=cmd|"x", y' }] } });
  const { get } = openDashboard(t, { policies: { all: () => [...samplePolicies, hostile] } });
  const { status, text, headers } = await get('/policies.csv?state=Stalled&search=evil');
  assert.equal(status, 200);
  assert.match(String(headers['content-type']), /^text\/csv/);
  assert.match(String(headers['content-disposition']), /filename="policies\.csv"/);
  const [head, row, rest] = text.split('\r\n');
  assert.match(head ?? '', /^namespace,name,state,reason,message,image,running,selected,/);
  assert.match(row ?? '', /^shop,evil,Stalled,NotSigned,"'=cmd\|""x"", y",registry\.example\.com\/shop\/web,/);
  assert.equal(rest, '');
});

test('the CSV of policies has all pages of the list, and only policies that the user may see', async (t) => {
  const many = Array.from({ length: 1_203 }, (_, index) => policyOf({ name: `p${index}`, uid: `u${index}` }));
  const all = await openDashboard(t, { policies: { all: () => many } }).get('/policies.csv?group=cause');
  assert.equal(all.text.trim().split('\r\n').length, many.length + 1);
  const few = openDashboard(t, { auth: ann('list shop', 'get shop'), identification: sessions });
  assert.equal((await few.get('/policies.csv')).status, 303);
  await few.submit('/sign-in', { token: 'anns-token', back: '/' });
  const { text } = await few.get('/policies.csv');
  assert.match(text, /^shop,ready,/m);
  assert.doesNotMatch(text, /^ops,/m);
});

test('the CSV of policies has an error status if the list cannot be read, and is aborted if reading fails later', async (t) => {
  const many = Array.from({ length: 1_203 }, (_, index) => policyOf({ name: `p${index}`, uid: `u${index}` }));
  let reads = 0;
  let most = 0;
  const all = () => {
    if (++reads > most) throw new AccessError(503, 'the policies are not known yet');
    return many;
  };
  const { get } = openDashboard(t, { policies: { all } });
  assert.equal((await get('/policies.json')).status, 503);
  [reads, most] = [0, 2];
  await assert.rejects(get('/policies.json'));
  [reads, most] = [0, 3];
  const { text } = await get('/policies.json');
  assert.deepEqual((JSON.parse(text) as { name: string }[]).map(({ name }) => name).toSorted(), many.map(({ name }) => name).toSorted());
  assert.equal(reads, 3);
});
