import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { buildOperationsApp } from '../../../src/service/operations/app.ts';
import type { Check } from '../../../src/service/telemetry/readiness.ts';
import { createMetrics } from '../../../src/service/telemetry/metrics.ts';

function start(t: TestContext, checks: Check[] = []) {
  const metrics = createMetrics();
  const beforeScrape = () => metrics.policies.set(7);
  const app = buildOperationsApp({ checks: () => checks, metricsRegistry: metrics.registry, beforeScrape });
  t.after(() => app.close());
  return app;
}

test('/livez answers as long as the process does', async (t) => {
  const app = start(t, [{ name: 'redis', ok: false, required: true }]);
  const { statusCode, body } = await app.inject('/livez');
  assert.deepEqual([statusCode, body], [200, 'ok\n']);
});

test('/readyz answers 200 when everything required is ready', async (t) => {
  const redis = { name: 'redis', required: true };
  const ready = await start(t, [{ ...redis, ok: true }]).inject('/readyz');
  assert.deepEqual([ready.statusCode, ready.body], [200, 'ok\n']);
  const away = await start(t, [{ ...redis, ok: false }]).inject('/readyz');
  assert.deepEqual([away.statusCode, away.body], [503, '[-]redis failed\nnot ready\n']);
  const verbose = await start(t, [{ ...redis, ok: true }]).inject('/readyz?verbose');
  assert.equal(verbose.body, '[+]redis ok\nok\n');
});

test('/metrics are refreshed and served in the text format', async (t) => {
  const { statusCode, headers, body } = await start(t).inject('/metrics');
  assert.equal(statusCode, 200);
  assert.match(String(headers['content-type']), /^text\/plain/);
  assert.match(body, /^image_watcher_policies 7$/m);
});

test('the operations server does not serve other paths', async (t) =>
  assert.equal((await start(t).inject('/webhooks/prod')).statusCode, 404));
