import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureBases } from '../../src/bases/measure-bases.ts';
import type { BaseImagePolicy } from '../../src/core/model/base-policy.ts';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { createMetrics } from '../../src/service/telemetry/metrics.ts';

const counts = { total: 7, current: 3, behind: 2, unknown: 1, unrelated: 1 };
const behindSince = '2026-11-16T08:00:00Z';

const policyOf = (name: string, status: BaseStatus): BaseImagePolicy => ({
  namespace: 'platform',
  name,
  uid: name,
  generation: 1,
  resourceVersion: '1',
  spec: { problem: { reason: 'InvalidPolicy', message: 'the spec does not matter here' } },
  status,
});

async function scrape(policies: readonly BaseImagePolicy[]): Promise<string[]> {
  const { registry, ...metrics } = createMetrics();
  measureBases([policyOf('gone', { images: counts, behindSince })], metrics);
  measureBases(policies, metrics);
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith('image_watcher_base_'));
}

test('metrics count the images of each policy of a base by their state, and show since when one is behind', async () => {
  assert.deepEqual(await scrape([policyOf('java', { images: { ...counts, overdue: 2 }, behindSince }), policyOf('new', {})]), [
    'image_watcher_base_images{namespace="platform",name="java",state="current"} 3',
    'image_watcher_base_images{namespace="platform",name="java",state="behind"} 2',
    'image_watcher_base_images{namespace="platform",name="java",state="other_line"} 0',
    'image_watcher_base_images{namespace="platform",name="java",state="unknown"} 1',
    'image_watcher_base_images{namespace="platform",name="java",state="unrelated"} 1',
    `image_watcher_base_behind_since_seconds{namespace="platform",name="java"} ${Date.parse(behindSince) / 1000}`,
    'image_watcher_base_rebuilds_overdue{namespace="platform",name="java"} 2',
  ]);
});

test('metrics cover at most 200 policies of bases: first those longest behind, then those with unknown images', async () => {
  const current = Array.from({ length: 300 }, (_, index) => policyOf(`a${index}`, { images: { ...counts, behind: 0, unknown: 0 } }));
  const unsure = policyOf('y', { images: { ...counts, behind: 0 } });
  const lines = await scrape([...current, unsure, policyOf('z', { images: counts, behindSince })]);
  assert.equal(new Set(lines.map((line) => /name="([^"]*)"/.exec(line)?.[1])).size, 200);
  assert.ok(lines.some((line) => line.startsWith('image_watcher_base_behind_since_seconds') && line.includes('name="z"')));
  assert.ok(lines.includes('image_watcher_base_images{namespace="platform",name="y",state="unknown"} 1'));
});
