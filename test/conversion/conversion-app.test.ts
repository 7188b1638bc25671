import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { ConvertReview } from '../../src/conversion/answer-review.ts';
import { buildConversionApp } from '../../src/conversion/conversion-app.ts';
import { makeProvisional } from '../../src/conversion/certificates/make-certificate.ts';
import type { ServingPair } from '../../src/conversion/certificates/serving-pair.ts';
import { createLogger } from '../../src/service/telemetry/logger.ts';
import { createMetrics } from '../../src/service/telemetry/metrics.ts';

const bodyLimitBytes = 1_048_576;

/** Answers with the objects that it got; refuses what has none. */
const echo: ConvertReview = (body) => {
  const { request } = (body ?? {}) as { request?: { uid?: string; objects?: unknown[] } };
  const { uid, objects: convertedObjects } = request ?? {};
  if (!Array.isArray(convertedObjects)) return Promise.resolve({ status: 400, text: '{}', problem: 'there are no objects' });
  return Promise.resolve({ status: 200, text: JSON.stringify({ response: { uid, result: { status: 'Success' }, convertedObjects } }) });
};

describe('the conversion listener', () => {
  let pair: ServingPair;
  before(async () => {
    pair = await makeProvisional(['localhost'], new Date());
  });

  const start = (convertReview: ConvertReview = echo) => {
    const metrics = createMetrics();
    const lines: string[] = [];
    const logger = createLogger('info', { write: (line: string) => void lines.push(line) });
    const app = buildConversionApp({ ...pair, bodyLimitBytes, convertReview, logger, metrics });
    const convert = (payload: string | Buffer, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
      app.inject({ method: 'POST', url: '/convert', payload, headers });
    return { app, convert, lines, metricsText: () => metrics.registry.metrics() };
  };
  const review = (objects: unknown, desiredAPIVersion = 'operator.technomad.dev/v1') =>
    JSON.stringify({ request: { uid: 'a', desiredAPIVersion, objects } });

  it('answers a review, counts it and measures its duration', async () => {
    const { convert, metricsText, lines } = start();
    const { statusCode, headers, body } = await convert(review([{ kind: 'ImagePolicy' }, { kind: 'ImagePolicy' }]));
    assert.equal(statusCode, 200);
    assert.match(String(headers['content-type']), /^application\/json/);
    assert.equal(JSON.parse(body).response.convertedObjects.length, 2);
    await convert(review([1], 'operator.technomad.dev/v1alpha1'));
    await convert(review([1], 'operator.technomad.dev/v7'));
    await convert('{}');
    const text = await metricsText();
    for (const line of [
      'conversions_total{to="v1",result="converted"} 2',
      'conversion_reviews_total{to="v1",result="converted"} 1',
      'conversions_total{to="v1alpha1",result="converted"} 1',
      'conversions_total{to="other",result="converted"} 1',
      'conversion_reviews_total{to="other",result="refused"} 1',
      'conversion_review_seconds_count{to="v1"} 1',
    ])
      assert.ok(text.includes(`image_watcher_${line}`), line);
    assert.equal(lines.length, 1, 'only what was refused is worth a line');
    assert.match(lines[0] ?? '', /"why":"there are no objects".*"msg":"conversion refused"/);
  });

  const garbage: [string, string | Buffer][] = [
    ['nothing', ''],
    ['half of it', review([{ a: 1 }]).slice(0, 40)],
    ['bytes', Buffer.from([0, 255, 254, 1, 128])],
    ['a number', '7'],
    ['null', 'null'],
    ['a list', '[]'],
    ['text', '"review"'],
    ['a request that is text', '{"request":"x"}'],
    ['objects that are no list', review({ length: 3 })],
  ];
  for (const [name, body] of garbage) {
    it(`refuses garbage such as "${name}"`, async () => {
      const { convert } = start();
      assert.equal((await convert(body)).statusCode, 400);
      assert.equal((await convert(review([]))).statusCode, 200, 'and goes on');
    });
  }

  const large: [name: string, why: RegExp, body: string][] = [
    ['very deep', /nested deeper than 3500/, '['.repeat(100_000)],
    ['very deep and whole', /nested deeper than 3500/, `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
    ['more objects than any list that was ever sent', /more than 1000 objects/, review(Array.from({ length: 1_001 }, () => ({})))],
    ['more items that are no objects', /more than 1000 objects/, review(Array.from({ length: 1_001 }, () => 0))],
    ['an object of nothing but values', /more than 400000 values/, review([Array.from({ length: 400_001 }, () => 0)])],
  ];
  for (const [name, why, body] of large) {
    it(`refuses a body before it is parsed in the case "${name}"`, async (t) => {
      const { convert } = start();
      const parse = t.mock.method(JSON, 'parse');
      const answer = await convert(body);
      assert.equal(parse.mock.callCount(), 0);
      assert.deepEqual([answer.statusCode, why.test(answer.body)], [413, true], answer.body);
      assert.equal((await convert(review([]))).statusCode, 200, 'and goes on');
    });
  }

  it('accepts objects as large as etcd stores, whatever they contain', async () => {
    const { convert } = start();
    const objects = Array.from({ length: 1_000 }, (_, index) => ({ name: `policy-${index}, "quoted": [{\\` }));
    assert.equal((await convert(review(objects))).statusCode, 200);
    const finalizers = Array.from({ length: 150_000 }, () => 'a/b');
    assert.equal((await convert(review([{ metadata: { finalizers } }]))).statusCode, 200);
  });

  it('requires JSON, and accepts field names that frameworks reject', async () => {
    const { convert } = start();
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON'])
      assert.equal((await convert(review([]), { 'content-type': type })).statusCode, 200, type);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])
      assert.equal((await convert(review([]), { 'content-type': type })).statusCode, 415, type);
    const annotations = '{"metadata":{"annotations":{"__proto__":"x","constructor":{"prototype":{}}}}}';
    const { statusCode, body } = await convert(`{"request":{"uid":"a","objects":[${annotations}]}}`);
    assert.equal(statusCode, 200);
    assert.ok(body.includes(annotations));
  });

  it('logs at most one warning about refusals every ten seconds', async () => {
    const { convert, lines } = start();
    for (let count = 0; count < 20; count++) await convert('garbage');
    assert.equal(lines.length, 1);
  });

  it('refuses a body over the limit, and names the limit', async () => {
    const { convert, lines } = start();
    const { statusCode, body } = await convert(review(['x'.repeat(bodyLimitBytes)]));
    assert.equal(statusCode, 413);
    assert.match(body, /conversion\.bodyLimitBytes \(1048576\)/);
    assert.match(lines.join(''), /conversion refused/);
    assert.equal((await convert(review(['x'.repeat(bodyLimitBytes - 200)]))).statusCode, 200);
  });

  it('answers 500 and logs an error when the conversion has a bug', async () => {
    const { convert, lines } = start(() => Promise.reject(new Error('a bug')));
    assert.equal((await convert(review([]))).statusCode, 500);
    assert.match(lines.join(''), /"level":"error".*a bug/);
  });

  it('serves /livez and nothing else', async () => {
    const { app } = start();
    assert.equal((await app.inject('/livez')).body, 'ok\n');
    for (const [method, url] of [
      ['GET', '/convert'],
      ['POST', '/'],
      ['GET', '/metrics'],
    ] as const)
      assert.equal((await app.inject({ method, url })).statusCode, 404, url);
  });
});
