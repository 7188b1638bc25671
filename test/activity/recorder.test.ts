/** What becomes of activities while Redis does not answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecorder, maxWaiting } from '../../src/activity/recorder.ts';
import type { IdentifiedActivity } from '../../src/core/model/activity.ts';
import { timeAt } from './sample-activity.ts';

const activity: IdentifiedActivity = {
  id: 'one',
  activity: { type: 'action', at: timeAt(0), action: 'suspend', subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'web' } },
};

test('a Redis that does not answer delays no caller, and a bounded number of activities wait for it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lost: unknown[] = [];
  const { promise: answer, resolve } = Promise.withResolvers<void>();
  const record = createRecorder(() => answer, { warn: (fields) => void lost.push(fields) });
  const first = record([activity]);
  t.mock.timers.tick(1_000);
  await first;
  const waiting = Array.from({ length: maxWaiting - 1 }, () => record([activity]));
  await record([activity, activity]);
  assert.deepEqual(lost, [{ why: '1000 activities wait for Redis', count: 2 }]);
  resolve();
  await Promise.all(waiting);
  await record([activity]);
  assert.equal(lost.length, 1);
});

test('an activity that Redis refuses is logged as lost, and its caller continues', async () => {
  const lost: unknown[] = [];
  const record = createRecorder(() => Promise.reject(new Error('OOM')), { warn: (fields) => void lost.push(fields) });
  await record([activity]);
  assert.deepEqual(lost, [{ why: 'OOM', count: 1 }]);
});
