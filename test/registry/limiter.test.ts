import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLimiter } from '../../src/registry/limiter.ts';
import { waitFor } from '../harness/wait-for.ts';

test('no more than the limit run at once, and the others follow in their order', async () => {
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

test('who gives up waiting leaves the line', async () => {
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

test('starts are spaced evenly, and a pause earns no burst', async () => {
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

test('who gives up while being paced frees the place', async () => {
  const limiter = createLimiter({ concurrency: 1, requestsPerSecond: 0.001 });
  (await limiter.acquire())();
  const controller = new AbortController();
  const paced = limiter.acquire(controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(paced, /enough/);
  assert.equal(limiter.isIdle, true);
});
