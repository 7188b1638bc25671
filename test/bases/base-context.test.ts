import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pollOf } from '../../src/bases/base-context.ts';
import { readBasePolicy } from '../../src/bases/resource/read-base-policy.ts';
import { isUsableBase } from '../../src/core/model/base-policy.ts';
import { loadSettings } from '../../src/service/config/settings.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const file = join(tempFolder('base-context'), 'config.yaml');

function intervalOf(config: string, spec: object = {}): number {
  writeFileSync(file, config);
  const context = { aliases: new Map(), customTargets: [], ...pollOf(loadSettings({ file, env: {} }).config) };
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation: 1 };
  const policy = readBasePolicy(
    { metadata, spec: { image: 'harbor.example.com/library/base-java', select: { semver: {} }, ...spec } },
    context,
  );
  assert.ok(isUsableBase(policy.spec));
  return policy.spec.base.pollIntervalMs;
}

test('a policy of a base without an interval is polled as the configuration says, once a minute at most', () => {
  assert.equal(intervalOf('{}'), 3_600_000);
  assert.equal(intervalOf('poll: {interval: 10m}'), 600_000);
  assert.equal(intervalOf('{poll: {interval: 10m}, policyDefaults: {poll: {interval: 20m}}}'), 1_200_000);
  assert.equal(intervalOf('poll: {interval: 10s}'), 60_000);
  assert.equal(intervalOf('poll: {interval: 10m}', { poll: { interval: '2m' } }), 120_000);
});
