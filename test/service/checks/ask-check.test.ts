/** Endpoints and Prometheus, with real servers that answer well, badly, oddly and not at all. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createAskCheck } from '../../../src/service/checks/ask-check.ts';
import { judge } from '../../../src/service/checks/prometheus-check.ts';
import { startEndpoint, startPrometheus, verdict, type Reply } from '../../harness/check-servers.ts';
import { meansOf, requestOf } from './check-samples.ts';
import { recordedAnswers } from './prometheus-answers.ts';

const key = 'a key';
const secret = { name: 'checks', key: 'key' };

describe('the endpoint of a check', () => {
  let reply: Reply = verdict('pass');
  let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
  before(async () => {
    endpoint = await startEndpoint(key, () => reply);
  });
  after(() => endpoint.stop());

  const readSecret = async ({ namespace, name }: { namespace: string; name: string }) =>
    namespace === 'shop' && name === 'checks'
      ? { data: { key: Buffer.from(`${key}\n`).toString('base64'), empty: '' } }
      : { why: 'does not exist' };
  const ask = (url = endpoint.url, from = secret, hosts = [endpoint.host]) =>
    createAskCheck(meansOf({ hosts, readSecret }))(requestOf({ kind: 'http', url, secret: from }));

  const rows: readonly (readonly [what: string, sent: Reply, kind: 'pass' | 'fail' | 'none', message: RegExp])[] = [
    ['pass', verdict('pass'), 'pass', /^$/],
    ['fail with its reason', verdict('fail', 'answers 500'), 'fail', /^answers 500$/],
    ['a reason that would break a line or hide text', verdict('fail', 'a\nb\u202ec\u0007'), 'fail', /^a b c$/],
    ['a long reason', verdict('fail', 'x'.repeat(10_000)), 'fail', /^x{299}…$/],
    ['wait', verdict('wait'), 'none', /^$/],
    ['a word that is no verdict', verdict('maybe'), 'none', /without a verdict/],
    ['an empty answer', { status: 204, body: '' }, 'none', /204 without a verdict/],
    ['a page that says nothing', { status: 200, body: '<html>pass</html>' }, 'none', /without a verdict/],
    ['an error with a verdict', { status: 500, body: '{"verdict":"pass"}' }, 'none', /500/],
    ['a broken connection', 'reset', 'none', /./],
  ];
  for (const [what, sent, kind, message] of rows) {
    it(`gives the answer "${kind}" with ${what}`, async () => {
      reply = sent;
      const answer = await ask();
      assert.equal(answer.kind, kind);
      assert.match(answer.message, message);
    });
  }
  it('receives a signed event with the image and the change', async () => {
    reply = verdict('pass');
    await ask();
    const { isSigned, id, data } = endpoint.events.at(-1) ?? assert.fail();
    assert.ok(isSigned);
    assert.equal(id, requestOf({ kind: 'http', url: '', secret }).record.id);
    assert.deepEqual([data.check, data.phase, data.tag, data.changes.length], ['gate', 'after', '1.3.0', 1]);
  });
  it('receives nothing unless the operator allows its host', async () => {
    const count = endpoint.events.length;
    for (const [url, hosts] of [
      [endpoint.url, []],
      ['https://127.0.0.1/x', [endpoint.host]],
      ['http://checks.example.com.evil.example/', ['http://checks.example.com']],
    ] as const)
      assert.match((await ask(url, secret, [...hosts])).message, /not allowed/);
    assert.equal(endpoint.events.length, count);
  });
  it('receives nothing without its key', async () => {
    const count = endpoint.events.length;
    assert.match((await ask(undefined, { name: 'other', key: 'key' })).message, /Secret other does not exist/);
    assert.match((await ask(undefined, { name: 'checks', key: 'constructor' })).message, /has no key constructor/);
    assert.match((await ask(undefined, { name: 'checks', key: 'empty' })).message, /has nothing under the key empty/);
    assert.equal(endpoint.events.length, count);
  });
});

describe('Prometheus as a check', () => {
  let found: readonly string[] | Reply = [];
  let prometheus: Awaited<ReturnType<typeof startPrometheus>>;
  before(async () => {
    prometheus = await startPrometheus(() => found);
  });
  after(() => prometheus.stop());

  const ask = (server = 'main', namespaces: readonly string[] = []) => {
    const servers = [{ name: 'main', url: `${prometheus.origin}/`, token: () => undefined, namespaces }];
    return createAskCheck(meansOf({ servers }))(requestOf({ kind: 'prometheus', server, query: 'up{a="b"}', max: 1, noData: 'Wait' }));
  };

  it('receives the query, and the numbers of its result are compared', async () => {
    found = ['0.5', '2'];
    assert.deepEqual(await ask(), { kind: 'fail', message: 'the result 2 is not at most 1' });
    assert.equal(prometheus.queries.at(-1), 'up{a="b"}');
  });
  it('gives no answer when it fails or its response is invalid, and nothing of the response is shown', async () => {
    for (const reply of [
      { status: 500, body: 'a secret of the operator' },
      { status: 200, body: '{"status":"success","data":{"resultType":"matrix","result":[]}}' },
      { status: 200, body: 'a secret of the operator' },
      'reset',
    ] as const) {
      found = reply;
      const { kind, message } = await ask();
      assert.equal(kind, 'none');
      assert.doesNotMatch(message, /secret/);
    }
  });
  for (const { query, status, body, means } of recordedAnswers)
    it(`gives the answer "${means}" to ${query}`, async () => {
      found = { status, body };
      assert.equal((await ask()).kind, means);
    });
  it('gives no answer with a warning in the response, whatever the number', async () => {
    const data = { resultType: 'vector', result: [{ metric: {}, value: [1_700_000_000, '0'] }] };
    found = { status: 200, body: JSON.stringify({ status: 'success', data, warnings: ['a store of the operator is away'] }) };
    assert.deepEqual(await ask(), { kind: 'none', message: 'the server main warns that the result may be wrong or incomplete' });
  });
  it('is queried only if the operator offers the server to the namespace', async () => {
    const count = prometheus.queries.length;
    assert.match((await ask('other')).message, /offers this namespace no server other/);
    assert.match((await ask('main', ['ops'])).message, /offers this namespace no server main/);
    assert.equal(prometheus.queries.length, count);
  });

  const rows: readonly (readonly [
    what: string,
    texts: readonly string[],
    range: Parameters<typeof judge>[0],
    kind: 'pass' | 'fail' | 'none',
  ])[] = [
    ['a number in the range', ['0.5'], { min: 0, max: 1, noData: 'Wait' }, 'pass'],
    ['the ends of the range', ['0', '1'], { min: 0, max: 1, noData: 'Wait' }, 'pass'],
    ['one number of many outside', ['0.5', '1.1'], { max: 1, noData: 'Pass' }, 'fail'],
    ['too small', ['0.5'], { min: 1, noData: 'Pass' }, 'fail'],
    ['infinity', ['+Inf'], { max: 1, noData: 'Pass' }, 'fail'],
    ['minus infinity', ['-Inf'], { min: 1, noData: 'Pass' }, 'fail'],
    ['nothing, waited for', [], { max: 1, noData: 'Wait' }, 'none'],
    ['nothing, which is good', [], { max: 1, noData: 'Pass' }, 'pass'],
    ['nothing, which is bad', [], { max: 1, noData: 'Fail' }, 'fail'],
    ['NaN, waited for', ['NaN'], { max: 1, noData: 'Wait' }, 'none'],
    ['NaN, which is good', ['NaN'], { max: 1, noData: 'Pass' }, 'pass'],
    ['NaN, which is bad', ['NaN'], { max: 1, noData: 'Fail' }, 'fail'],
    ['NaN beside a bad number', ['NaN', '2'], { max: 1, noData: 'Pass' }, 'fail'],
    ['NaN beside a good number', ['0', 'NaN'], { max: 1, noData: 'Wait' }, 'none'],
    ['a text that is no number', ['', 'x'], { max: 1, noData: 'Fail' }, 'fail'],
  ];
  for (const [what, texts, range, kind] of rows)
    it(`gives the answer "${kind}" for ${what}`, () => assert.equal(judge(range, texts).kind, kind));
});
