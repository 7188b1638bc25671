import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLimiter } from '../../../src/service/registry/limiter.ts';
import { waitFor } from '../../harness/wait-for.ts';

test('no more requests than the limit run at once, and the others follow in order', async () => {
  const limiter = createLimiter({ concurrency: 2 });
  const started: number[] = [];
  const releases: (() => void)[] = [];
  const all = [1, 2, 3, 4].map(async (id) => {
    const release = await limiter.acquire();
    started.push(id);
    releases.push(release);
  });
  await waitFor('two to start', () => started.length === 2);
  assert.deepEqual(started, [1, 2]);
  releases.shift()?.();
  await waitFor('the third to start', () => started.length === 3);
  releases.shift()?.();
  await Promise.all(all);
  assert.deepEqual(started, [1, 2, 3, 4]);
  for (const release of releases) release();
  assert.equal(limiter.isIdle, true);
});

test('a caller that gives up leaves the queue of the limiter', async () => {
  const limiter = createLimiter({ concurrency: 1 });
  const release = await limiter.acquire();
  const controller = new AbortController();
  const impatient = limiter.acquire(controller.signal);
  const patient = limiter.acquire();
  controller.abort(new Error('enough'));
  await assert.rejects(impatient, /enough/);
  release();
  (await patient)();
  assert.equal(limiter.isIdle, true);
  await assert.rejects(limiter.acquire(controller.signal), /enough/);
});

test('starts of requests are spaced evenly, and idle time allows no burst', async () => {
  let now = 1_000;
  const slept: number[] = [];
  const sleep = async (ms: number) => void slept.push(ms);
  const limiter = createLimiter({ concurrency: 10, requestsPerSecond: 10, now: () => now, sleep });
  for (let i = 0; i < 3; i++) await limiter.acquire();
  assert.deepEqual(slept, [100, 200]);
  now = 5_000;
  for (let i = 0; i < 2; i++) await limiter.acquire();
  assert.deepEqual(slept, [100, 200, 100]);
});

test('a caller that gives up while its start is delayed frees the slot', async () => {
  const limiter = createLimiter({ concurrency: 1, requestsPerSecond: 0.001 });
  (await limiter.acquire())();
  const controller = new AbortController();
  const paced = limiter.acquire(controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(paced, /enough/);
  assert.equal(limiter.isIdle, true);
});

test('refused callers are told to return one after the other, at most 4 s later', async () => {
  let time = 0;
  const refuse = (_why: string, waitMs: number) => Object.assign(new Error('come again'), { waitMs });
  const queue = { maxWaiting: 1, maxWaitingWhenStuck: 1, stuckAfterMs: 3_600_000, maxPaceMs: 0, refuse };
  const limiter = createLimiter({ concurrency: 1, queue, now: () => time });
  const refusals = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () =>
        limiter.acquire().then(
          () => assert.fail('there is no place'),
          ({ waitMs }: { waitMs: number }) => Math.round(waitMs),
        ),
      ),
    );
  let running = await limiter.acquire();
  let waiting = limiter.acquire();
  /** The next turn comes after so much time, and somebody else stands in the line. */
  const startNext = async (afterMs: number) => {
    time += afterMs;
    running();
    running = await waiting;
    waiting = limiter.acquire();
  };
  assert.deepEqual(await refusals(2), [100, 100], 'nothing is known of the host');
  await startNext(10_000);
  await startNext(50);
  assert.deepEqual(await refusals(3), [100, 150, 200]);
  time += 60;
  assert.deepEqual(await refusals(2), [190, 240], 'after those who were refused before');
  const last = (await refusals(100)).at(-1);
  assert.equal(last, 4_000);

  running();
  running = await waiting;
  running();
  time += 10_000;
  running = await limiter.acquire();
  waiting = limiter.acquire();
  await startNext(10);
  await startNext(50);
  assert.deepEqual(await refusals(2), [100, 151], 'one turn took 60 ms; a time when nobody waited says nothing of the pace');
  running();
  (await waiting)();
  assert.equal(limiter.isIdle, true);
});
