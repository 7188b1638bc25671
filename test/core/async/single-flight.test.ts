import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SingleFlight } from '../../../src/core/async/single-flight.ts';

test('simultaneous calls share one run of the work, and a later call starts another', async () => {
  const flights = new SingleFlight<number>();
  let runs = 0;
  const work = async () => ++runs;
  assert.deepEqual(await Promise.all([flights.run('a', work), flights.run('a', work), flights.run('b', work)]), [1, 1, 2]);
  assert.equal(await flights.run('a', work), 3);
});

test('an error of shared work rejects for all callers, and is not cached', async () => {
  const flights = new SingleFlight<number>();
  const failure = new Error('broken');
  const outcomes = await Promise.allSettled([
    flights.run('a', () => Promise.reject(failure)),
    flights.run('a', () => Promise.reject(failure)),
  ]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(await flights.run('a', async () => 1), 1);
});

test('a caller that gives up does not end the work for other callers, and the last one that gives up cancels it', async () => {
  const flights = new SingleFlight<number>();
  const first = new AbortController();
  const second = new AbortController();
  let workSignal: AbortSignal | undefined;
  const result = Promise.withResolvers<number>();
  const work = (signal: AbortSignal) => {
    workSignal = signal;
    return result.promise;
  };
  const a = flights.run('k', work, first.signal);
  const b = flights.run('k', work, second.signal);
  first.abort(new Error('first'));
  await assert.rejects(a, /first/);
  assert.equal(workSignal?.aborted, false);
  second.abort(new Error('second'));
  await assert.rejects(b, /second/);
  assert.equal(workSignal?.aborted, true);
  assert.equal(await flights.run('k', async () => 7), 7);
  result.resolve(0);
});

test('a call that arrives when the work is done starts new work, even if the waiting callers were not notified yet', async () => {
  const flights = new SingleFlight<number>();
  const result = Promise.withResolvers<number>();
  const first = flights.run('a', () => result.promise);
  const nextRun = result.promise.then(() => flights.run('a', async () => 2));
  result.resolve(1);
  assert.deepEqual(await Promise.all([first, nextRun]), [1, 2]);
});

test('work that throws synchronously is not shared', async () => {
  const flights = new SingleFlight<number>();
  const refused = flights.run('a', () => {
    throw new Error('not now');
  });
  const otherRun = flights.run('a', async () => 1);
  await assert.rejects(refused, /not now/);
  assert.equal(await otherRun, 1);
});
