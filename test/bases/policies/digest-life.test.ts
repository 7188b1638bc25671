import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestLifeOf } from '../../../src/bases/policies/compare-images.ts';
import { isUsableBase } from '../../../src/core/model/base-policy.ts';
import type { BaseJob } from '../../../src/service/queue/jobs.ts';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import { digestOf } from '../../core/model/samples.ts';
import { createReplica, jobOf } from './replica.ts';

function lifeOf(interval: string, source: BaseJob['source'], asksRegistry: boolean): number {
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation: 1 };
  const spec = { image: 'harbor.example.com/library/base-java', select: { semver: {} }, poll: { interval } };
  const policy = readBasePolicy({ metadata, spec }, { aliases: new Map(), customTargets: [] });
  assert.ok(isUsableBase(policy.spec));
  const job: BaseJob = { schema: 1, policy: metadata, source, cause: 'x', receivedAt: '2026-11-23T12:00:00Z' };
  return digestLifeOf({ ...policy, spec: policy.spec }, job, asksRegistry) / 1_000;
}

test('a poll asks for every tag whose digest is older than half of the interval', () => {
  for (const [interval, seconds] of [
    ['1m', 30],
    ['10m', 300],
    ['1h', 1_800],
  ] as const)
    assert.equal(lifeOf(interval, 'Poll', true), seconds, interval);
});

test('a push asks for no tag that was asked for within a minute, and a changed workload for none within the interval', () => {
  assert.equal(lifeOf('1h', 'Webhook', true), 60);
  assert.equal(lifeOf('1h', 'TargetChange', false), 3_600);
});

test('a policy that is created asks for the tags of images that it restarts, whatever was remembered: it has seen no push of them', async () => {
  for (const [action, expected] of [
    ['restart', ['HEAD main']],
    ['report', []],
  ] as const) {
    const onNewBase = action === 'restart' ? [{ restart: { images: ['*'] } }] : [{ report: {} }];
    const replica = createReplica({ settings: { onNewBase } });
    await replica.process(jobOf('PolicyChange'));
    replica.tags.set('main', digestOf('f'));
    replica.write({}, 'u2');
    const policy = { namespace: 'shop', name: 'java', uid: 'u2' };
    for (const requests of [expected, []]) {
      replica.requests.length = 0;
      await replica.process(jobOf('PolicyChange', { policy }));
      assert.deepEqual(
        replica.requests.filter((request) => request.endsWith(' main')),
        requests,
        action,
      );
    }
  }
});
