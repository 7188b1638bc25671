import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { providers } from '../../../src/service/receive/providers/index.ts';
import { readSamples } from './providers/read-samples.ts';
import { startApp } from './start-app.ts';

test('no address in a payload or a header is ever requested', { timeout: 60_000 }, async (t) => {
  const asked: string[] = [];
  const canary = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end('{}');
  });
  canary.listen(0, '127.0.0.1');
  await once(canary, 'listening');
  t.after(() => {
    canary.close();
    canary.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
  let bitten = 0;
  for (const provider of providers) {
    const { app } = await startApp(t, { provider, unauthenticated: true, registryOverride: 'registry.example.com' });
    const { app: closed } = await startApp(t, { provider, secrets: () => ['nobody-knows-this-secret'] });
    for (const sample of readSamples(provider.id)) {
      const text = sample.body.toString('utf8');
      const bait = text.replaceAll(/https?:(?:\\?\/){2}[^\\/"'\s?#]+/g, url);
      if (bait !== text) bitten++;
      const headers = {
        ...sample.headers,
        ...Object.fromEntries(
          ['webhook-request-callback', 'x-forwarded-host', 'origin', 'referer', 'link'].map((name) => [name, `${url}/h`]),
        ),
      };
      for (const { inject } of [app, closed].map((one) => ({ inject: one.inject.bind(one) }))) {
        await inject({ method: 'POST', url: '/webhooks/prod', headers, body: bait });
        await inject({ method: 'OPTIONS', url: '/webhooks/prod', headers });
      }
    }
  }
  assert.ok(bitten > 20, 'the samples have addresses');
  assert.deepEqual(asked, []);
});
