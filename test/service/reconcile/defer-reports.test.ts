import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReportDeferral } from '../../../src/service/reconcile/defer-reports.ts';

test('status writes wait for all image changes in progress, whether they succeed or not', async () => {
  const { change, untilIdle } = createReportDeferral({ quietMs: 1, atMostMs: 60_000 });
  await untilIdle();
  const [firstChange, secondChange] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  const changes = Promise.allSettled([change(() => firstChange.promise), change(() => secondChange.promise)]);
  let idleCount = 0;
  const waitingForIdle = [untilIdle(), untilIdle()].map((its) => its.then(() => idleCount++));
  firstChange.resolve('changed');
  await firstChange.promise;
  assert.equal(idleCount, 0);
  secondChange.reject(new Error('conflict'));
  const [changed, failed] = await changes;
  await Promise.all(waitingForIdle);
  assert.deepEqual([changed?.status, failed?.status, idleCount], ['fulfilled', 'rejected', 2]);
  await untilIdle();
});

test('status writes also wait for a change that follows soon', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { change, untilIdle } = createReportDeferral({ quietMs: 30, atMostMs: 1_000 });
  await change(() => Promise.resolve());
  let isIdle = false;
  const idle = untilIdle().then(() => (isIdle = true));
  t.mock.timers.tick(29);
  const second = Promise.withResolvers<void>();
  const changing = change(() => second.promise);
  t.mock.timers.tick(500);
  second.resolve();
  await changing;
  t.mock.timers.tick(29);
  await Promise.resolve();
  assert.equal(isIdle, false);
  t.mock.timers.tick(1);
  await idle;
  assert.equal(isIdle, true);
});

test('status writes do not wait for ever for image changes', async () => {
  const { change, untilIdle } = createReportDeferral({ quietMs: 60_000, atMostMs: 1 });
  const never = Promise.withResolvers<void>();
  const changing = change(() => never.promise);
  await untilIdle();
  never.resolve();
  await changing;
});
