import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from './start-app.ts';

const origin = { 'webhook-request-origin': 'eventgrid.azure.net' };

test('a handshake is answered 200, allows the origin to POST, and gets the rate limit if it asks for one', async (t) => {
  const { app, stored } = await startApp(t, { requestsPerMinute: 120 });
  for (const url of ['/webhooks/prod', '/webhooks/prod/s3cret']) {
    const { statusCode, headers, body } = await app.inject({ method: 'OPTIONS', url, headers: origin });
    assert.deepEqual([statusCode, body], [200, '']);
    assert.deepEqual(
      [headers['webhook-allowed-origin'], headers['allow'], headers['webhook-allowed-rate']],
      ['eventgrid.azure.net', 'POST', undefined],
    );
  }
  const asked = await app.inject({ method: 'OPTIONS', url: '/webhooks/prod', headers: { ...origin, 'webhook-request-rate': '1000' } });
  assert.equal(asked.headers['webhook-allowed-rate'], '120');
  assert.deepEqual(stored, []);
});

const rows: [name: string, url: string, headers: Record<string, string>, status: number][] = [
  ['an unknown receiver', '/webhooks/other', origin, 404],
  ['an unknown receiver, whatever the token', '/webhooks/other/s3cret', origin, 404],
  ['a wrong token', '/webhooks/prod/wrong', origin, 401],
  ['no origin', '/webhooks/prod', {}, 400],
  ['an origin that is none', '/webhooks/prod', { 'webhook-request-origin': 'a b<script>' }, 400],
  ['another path', '/', origin, 404],
];

for (const [name, url, headers, status] of rows) {
  test(`a handshake is answered ${status} for ${name}`, async (t) => {
    const { app } = await startApp(t);
    const response = await app.inject({ method: 'OPTIONS', url, headers });
    assert.equal(response.statusCode, status);
    assert.equal(response.headers['webhook-allowed-origin'], undefined);
  });
}

test('a handshake is not counted as a delivery, and its body is not read', async (t) => {
  const { app, metrics } = await startApp(t);
  await app.inject({ method: 'OPTIONS', url: '/webhooks/prod', headers: origin });
  assert.equal((await app.inject({ method: 'OPTIONS', url: '/webhooks/prod', headers: origin, body: '{}' })).statusCode, 413);
  assert.deepEqual((await metrics.deliveries.get()).values, []);
});
