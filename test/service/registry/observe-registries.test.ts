import assert from 'node:assert/strict';
import { test } from 'node:test';
import { observeRegistries } from '../../../src/service/registry/observe-registries.ts';
import { createLogger } from '../../../src/service/telemetry/logger.ts';
import { createMetrics } from '../../../src/service/telemetry/metrics.ts';

test('a broken registry and its recovery are logged once each, and the metrics follow', async () => {
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line: string) => void lines.push(line) });
  const metrics = createMetrics();
  const { onHostEvent, onRequest } = observeRegistries({ logger, metrics });
  const host = 'r.example.com';
  for (const state of ['open', 'half-open', 'open'] as const) onHostEvent({ host, kind: 'circuit', state, why: 'no answer' });
  onHostEvent({ host, kind: 'refused', reason: 'RegistryUnavailable' });
  onHostEvent({ host, kind: 'pulls', remaining: 7, limit: 100 });
  onRequest({ host, kind: 'manifest', method: 'HEAD', status: 200, durationMs: 1 });
  assert.match(await metrics.registry.metrics(), /registry_circuit_open\{host="r.example.com"\} 1/);
  for (const state of ['half-open', 'closed'] as const) onHostEvent({ host, kind: 'circuit', state, why: 'no answer' });
  const text = await metrics.registry.metrics();
  assert.match(text, /registry_circuit_open\{host="r.example.com"\} 0/);
  assert.match(text, /registry_pulls_remaining\{host="r.example.com"\} 7/);
  assert.match(text, /registry_postponed_total\{host="r.example.com",reason="RegistryUnavailable"\} 1/);
  assert.match(text, /registry_requests_total\{host="r.example.com",kind="manifest",answer="2xx"\} 1/);
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { msg: string }).msg),
    ['registry failing, circuit open', 'registry answering, circuit closed'],
  );
});
