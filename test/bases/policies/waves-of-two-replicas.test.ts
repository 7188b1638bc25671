/** Two replicas that want to begin a wave of a base at the same moment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunningPods } from '../../../src/core/rollout/running-pods.ts';
import { digestOf } from '../../core/model/samples.ts';
import { createReplica, jobOf } from './replica.ts';

const layers = { a: ['new'], b: ['old'], e: ['new', 'app'], f: ['old', 'app'] };
const pods: RunningPods = {
  uid: 'uid-of-deployment',
  resourceVersion: '1',
  generation: 1,
  rollout: { observedGeneration: 1, wanted: 1, toUpdate: 1, updated: 1, available: 1, outdated: 0, wasComplete: true },
  restartedFor: [],
  pullsAlways: ['web'],
  digests: new Map([['web', new Set([digestOf('f')])]]),
};
const bases = ['a', 'b'].map((letter) => ({ tag: '1.2.3', digest: digestOf(letter), selectedAt: '2026-03-01T11:00:00Z' }));
const history = bases.map((base) => ({ ...base, requested: 0, updated: 0, failed: 0, result: 'Selected' }));
const status = { observedGeneration: 1, latest: bases[0], history };
const push = jobOf('Webhook', {
  eventId: 'push-1',
  hint: { tag: 'main', digest: digestOf('e') },
  pushed: { registry: 'harbor.example.com', path: 'shop/app' },
});

for (const isFailed of [false, true])
  test(`a wave ${isFailed ? 'does not begin if another replica has just rejected the base' : 'begins and is recorded in the status'}`, async () => {
    const replica = createReplica({ settings: { onNewBase: [{ restart: { images: ['*'] } }] }, layers, pods });
    replica.tags.set('1.2.3', digestOf('a'));
    replica.write(status);
    const rejected = [{ tag: '1.2.3', digest: digestOf('a'), at: '2026-03-01T11:59:00Z', message: 'it crashes' }];
    // The first status that this replica writes is the record of its wave.
    if (isFailed) replica.beforeWrite = () => replica.write({ ...status, rejected });
    await replica.process(push);
    const wave = { base: digestOf('a'), workloads: ['Deployment/shop/web'] };
    assert.deepEqual([replica.restarted, replica.status().lastWave], isFailed ? [[], undefined] : [['web'], wave]);
  });
