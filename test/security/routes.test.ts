/** Whatever is sent to any route of the operations and conversion listeners: an answer that is no error of ours, and nothing done. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convertReview } from '../../src/conversion/convert-review.ts';
import { buildConversionApp } from '../../src/conversion/conversion-app.ts';
import { makeProvisional } from '../../src/conversion/certificates/make-certificate.ts';
import { createLogger } from '../../src/service/telemetry/logger.ts';
import { createMetrics } from '../../src/service/telemetry/metrics.ts';
import { randomRequest } from '../../bench/fuzz/random-request.ts';
import { mutateText } from '../../bench/fuzz/mutate-json.ts';
import { createRandom, type Random } from '../../bench/fuzz/random.ts';
import { recordOf, startApi } from '../service/api/fake-events.ts';
import { readSamples } from '../service/receive/providers/read-samples.ts';

const samples = readSamples().filter(({ body }) => body.length > 0);
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;
const rounds = 1_500;

/** A path that is there, more or less. */
function pathLike(paths: readonly [string, ...string[]], random: Random): string {
  const path = random.pick(paths);
  const odd = random.chance(0.5) ? mutateText(path, random) : path;
  // What no client can send is not tried: characters outside of a URL.
  return `/${encodeURI(odd.replaceAll(/[^\x21-\x7e]/g, '')).replace(/^\/*/, '')}`;
}

test('the operations listener answers no request without a token or with a wrong one', { timeout: 120_000 }, async (t) => {
  const random = createRandom(20261121);
  const reviewed: string[] = [];
  const auth = {
    kind: 'kubernetes',
    reviewToken: (token: string) => Promise.resolve(void reviewed.push(token)),
    reviewAccess: () => Promise.resolve(false),
  } as const;
  const { app, stored, logged } = startApi(t, auth, [recordOf('known', 1, { 'shop/web': 'updated' })]);
  const paths = [
    '/livez',
    '/readyz?verbose',
    '/metrics',
    '/api/v1/events?limit=5&outcome=failed&before=1-a',
    '/api/v1/events/known',
    '/api/v1/events/known/replay',
    '/',
    '/policies/shop/web?push=r.example.com/web:1',
    '/policies/shop/web/approve',
    '/approvals/confirm?choice=shop/web',
    '/language?to=zh&back=/',
    '/sign-in?back=/policies',
    '/stream',
    '/assets/dashboard.css',
  ] as const;
  for (let round = 0; round < rounds; round++) {
    const { headers, body } = randomRequest(samples, samples, random);
    const method = random.pick(methods) ?? 'GET';
    const token = random.chance(0.5) ? { authorization: `Bearer ${mutateText('some-token', random).replaceAll(/[^\x21-\x7e]/g, '')}` } : {};
    const url = pathLike(paths, random);
    const answer = await app.inject({
      method,
      url,
      headers: { ...headers, ...token },
      ...(method !== 'GET' && method !== 'HEAD' && { body }),
    });
    assert.ok(answer.statusCode < 500, `${method} ${url}: ${answer.statusCode} ${answer.body}`);
    if (answer.statusCode < 300 && method !== 'OPTIONS') assert.match(url, /^\/(?:livez|readyz|metrics)/i, `${method} ${url}`);
  }
  assert.deepEqual(stored, []);
  assert.ok(logged.every((line) => !line.includes('"level":"error"')));
});

test('the conversion listener survives reviews that no API server sends', { timeout: 120_000 }, async (t) => {
  const random = createRandom(20261122);
  const pair = await makeProvisional(['localhost'], new Date());
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line: string) => void lines.push(line) });
  const app = buildConversionApp({ ...pair, bodyLimitBytes: 1_048_576, convertReview, logger, metrics: createMetrics() });
  t.after(() => app.close());
  const policy = {
    apiVersion: 'operator.technomad.dev/v1alpha1',
    kind: 'ImagePolicy',
    metadata: { name: 'a' },
    spec: { repository: 'a/b' },
  };
  const review = Buffer.from(
    JSON.stringify({ request: { uid: 'u', desiredAPIVersion: 'operator.technomad.dev/v1', objects: [policy, policy] } }),
  );
  const reviews = [
    { ...samples[0], provider: 'convert', headers: { 'content-type': 'application/json' }, body: review } as (typeof samples)[number],
  ];
  for (let round = 0; round < rounds; round++) {
    const { headers, body } = randomRequest(reviews, random.chance(0.8) ? reviews : samples, random);
    const method = random.chance(0.9) ? 'POST' : (random.pick(methods) ?? 'POST');
    const url = random.chance(0.9) ? '/convert' : pathLike(['/convert'], random);
    const answer = await app.inject({ method, url, headers, ...(method !== 'GET' && method !== 'HEAD' && { body }) });
    assert.ok(answer.statusCode < 500, `${method} ${url}: ${answer.statusCode} ${answer.body}\n${body.toString('latin1').slice(0, 500)}`);
  }
});
