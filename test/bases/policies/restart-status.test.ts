import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunningPods } from '../../../src/core/rollout/running-pods.ts';
import { digestOf } from '../../core/model/samples.ts';
import { createReplica, jobOf } from './replica.ts';

const layers = { a: ['new'], b: ['old'], e: ['new', 'app'], f: ['old', 'app'] };
const complete = { observedGeneration: 1, wanted: 1, toUpdate: 1, updated: 1, available: 1, outdated: 0, wasComplete: true };
const formerPods: RunningPods = {
  uid: 'uid-of-deployment',
  resourceVersion: '1',
  generation: 1,
  rollout: complete,
  restartedFor: [],
  pullsAlways: ['web'],
  digests: new Map([['web', new Set([digestOf('f')])]]),
};

/** The base has come, an image on it is pushed under the tag that runs, and pods run the one before. */
async function push(pods: Partial<RunningPods>, more: object = {}) {
  const settings = { onNewBase: [{ restart: { images: ['*'] } }], ...more };
  const replica = createReplica({ settings, layers, pods: { ...formerPods, ...pods } });
  replica.tags.set('1.2.3', digestOf('a'));
  const bases = ['a', 'b'].map((letter) => ({ tag: '1.2.3', digest: digestOf(letter), selectedAt: '2026-03-01T11:00:00Z' }));
  const history = bases.map((base) => ({ ...base, requested: 0, updated: 0, failed: 0, result: 'Selected' }));
  replica.write({ observedGeneration: 1, latest: bases[0], history });
  const pushed = { registry: 'harbor.example.com', path: 'shop/app' };
  await replica.process(jobOf('Webhook', { eventId: 'push-1', hint: { tag: 'main', digest: digestOf('e') }, pushed }));
  const status = replica.status();
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return { status, ready, record: replica.results.get('push-1 shop/bipol:java'), jobs: replica.jobs };
}

describe('an image is behind while pods run the one before', () => {
  for (const [what, pods, message] of [
    ['of a paused workload', { rollout: { ...complete, haltedBecause: 'it is paused' } }, /^Deployment shop\/web: it is paused$/],
    ['of a workload that does not pull the image at each start', { pullsAlways: [] }, /imagePullPolicy: Always for web/],
    [
      'of a workload whose restart came to nothing',
      { restartedFor: [digestOf('e')], restartedAt: '2026-02-01T12:00:00Z' },
      /restart it with kubectl/,
    ],
  ] as const satisfies readonly (readonly [what: string, pods: Partial<RunningPods>, message: RegExp])[])
    it(what, async () => {
      const { status, ready } = await push(pods);
      const [dependent] = status.dependents ?? [];
      assert.deepEqual([status.images?.behind, status.images?.current, dependent?.state], [1, 0, 'Behind']);
      assert.match(dependent?.message ?? '', message);
      assert.deepEqual([ready?.reason, ready?.message], ['ImagesBehind', '1 of 1 images are behind 1.2.3']);
      assert.notEqual(status.behindSince, undefined);
    });

  it('until they run the new image', async () => {
    const { status, ready } = await push({ digests: new Map([['web', new Set([digestOf('e')])]]), pullsAlways: [] });
    assert.deepEqual([status.images?.behind, status.images?.current, ready?.reason], [0, 1, 'UpToDate']);
  });
});

describe('restarts that wait for a window', () => {
  const windows = [{ days: ['Sat'], from: '02:00', to: '04:00', timeZone: 'UTC' }];

  it('are not reported as begun, and begin when the window opens', async () => {
    const { status, ready, record, jobs } = await push({}, { windows });
    const message = '1 of 1 workloads are restarted when the next window opens: 2026-03-07T02:00:00Z; 1 of 1 images are behind 1.2.3';
    assert.deepEqual([ready?.status, ready?.reason, ready?.message], ['False', 'Window', message]);
    assert.deepEqual([record?.kind, record?.reason, record?.stage], ['waiting', 'Window', 'guard']);
    assert.deepEqual([status.dependents?.[0]?.reason, status.images?.behind, status.waves?.pending], ['Window', 1, 1]);
    assert.match(status.dependents?.[0]?.message ?? '', /wait for the window that opens at 2026-03-07T02:00:00Z$/);
    const times = jobs.flatMap(({ source, notBefore }) => (source === 'WaitOver' ? [notBefore] : []));
    assert.deepEqual(times, ['2026-03-07T02:00:00.000Z']);
  });

  it('are reported as Progressing if one restart has begun before', async () => {
    const rollout = { ...complete, updated: 0, available: 0, wasComplete: false, isIncomplete: true };
    const begun = { rollout, restartedFor: [digestOf('e')], restartedAt: '2026-03-01T11:59:00Z' };
    const { ready, record } = await push(begun, { windows });
    assert.deepEqual([ready?.reason, record?.kind], ['Progressing', 'updated']);
  });
});

for (const [mode, reason] of [
  ['Approval', 'ApprovalRequired'],
  ['DryRun', 'DryRun'],
] as const)
  it(`with mode: ${mode}, an image whose workload would be restarted is behind`, async () => {
    const { status } = await push({}, { mode });
    assert.deepEqual([status.dependents?.[0]?.reason, status.images?.behind], [reason, 1]);
    assert.equal(status.pendingApproval?.digest, mode === 'Approval' ? digestOf('a') : undefined);
    const { status: paused } = await push({ rollout: { ...complete, haltedBecause: 'it is paused' } }, { mode });
    assert.deepEqual([paused.images?.behind, paused.pendingApproval], [1, undefined]);
  });
