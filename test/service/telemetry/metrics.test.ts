import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoundedLabel, createMetrics } from '../../../src/service/telemetry/metrics.ts';

test('every metric is in the registry, with our prefix, its unit and a help text', async () => {
  const { registry, ...metrics } = createMetrics();
  const known = await registry.getMetricsAsJSON();
  const ours = known.filter(({ name }) => name.startsWith('image_watcher_'));
  assert.equal(ours.length, Object.keys(metrics).length);
  for (const { name, help, type } of ours) {
    assert.match(help, /^[A-Z].{10,}[^.]$/, name);
    if (type === 'counter') assert.match(name, /_total$/);
    if (type === 'histogram') assert.match(name, /_seconds$/);
  }
});

test('two metric registries in one process do not interfere', () => {
  assert.notEqual(createMetrics().registry, createMetrics().registry);
});

test('the first values of a metric label are kept, and all others become one', () => {
  const label = createBoundedLabel(2);
  assert.deepEqual(['a', 'a', 'b', 'c', 'd', 'a'].map(label), ['a', 'a', 'b', 'other', 'other', 'a']);
});
