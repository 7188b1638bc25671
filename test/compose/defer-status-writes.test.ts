import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStatusDeferral } from '../../src/compose/defer-status-writes.ts';

test('status writes wait for all image changes in progress, whether they succeed or not', async () => {
  const { change, untilIdle } = createStatusDeferral({ atMostMs: 60_000 });
  await untilIdle();
  const [one, other] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  const changes = Promise.allSettled([change(() => one.promise), change(() => other.promise)]);
  let told = 0;
  const tellings = [untilIdle(), untilIdle()].map((its) => its.then(() => told++));
  one.resolve('changed');
  await one.promise;
  assert.equal(told, 0);
  other.reject(new Error('conflict'));
  const [changed, failed] = await changes;
  await Promise.all(tellings);
  assert.deepEqual([changed?.status, failed?.status, told], ['fulfilled', 'rejected', 2]);
  await untilIdle();
});

test('status writes do not wait for ever', async () => {
  const { change, untilIdle } = createStatusDeferral({ atMostMs: 1 });
  const never = Promise.withResolvers<void>();
  const changing = change(() => never.promise);
  await untilIdle();
  never.resolve();
  await changing;
});
