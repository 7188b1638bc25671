/** A process keeps the pauses that it has asked for, also where a worker whose clock is ahead brings a job back at once. */
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { Queue } from 'bullmq';
import { WaitError } from '../../../src/core/model/errors.ts';
import { connectWorker } from '../../../src/service/queue/connection.ts';
import type { PushJob } from '../../../src/service/queue/jobs.ts';
import { createPushQueue } from '../../../src/service/queue/producer.ts';
import { readPushJob } from '../../../src/service/queue/read-job.ts';
import { createWaits } from '../../../src/service/queue/waits.ts';
import { createWorker } from '../../../src/service/queue/worker.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

let redis: Redis;
before(async () => void (redis = await startRedis()));
after(() => redis.stop());

const signal = new AbortController().signal;

/** Runs a job that ends once with an error, while all delayed jobs are called due all the time. Returns the time between its two tries, in ms. */
async function pauseAfter(t: TestContext, error: () => Error): Promise<number> {
  const connection = connectWorker(redis.url);
  const prefix = `{${t.name}}`;
  const tries: number[] = [];
  const worker = createWorker<PushJob>({
    access: { redis: connection, prefix, onError: () => undefined },
    queue: 'push',
    concurrency: 2,
    read: readPushJob,
    now: Date.now,
    random: () => 0,
    process: () => (tries.push(performance.now()) === 1 ? Promise.reject(error()) : Promise.resolve()),
  });
  const queue = new Queue<PushJob>('push', { connection, prefix });
  worker.start();
  t.after(async () => {
    await worker.stop(1_000);
    connection.disconnect();
  });
  const repository = { registry: 'registry.example.com', path: 'shop/web' };
  const push = { id: 'a', receiver: 'any', provider: 'generic', repository, tag: '1', receivedAt: new Date().toISOString() } as const;
  await createPushQueue({ redis: connection, prefix, onError: () => undefined }, 0).add([push]);
  await waitFor('the job to be completed', async () => {
    for (const job of await queue.getDelayed()) await job.promote().catch(() => undefined);
    return (await queue.getCompletedCount()) === 1;
  });
  const [first = 0, second = 0] = tries;
  assert.equal(tries.length, 2);
  return second - first;
}

for (const [name, error, leastMs] of [
  ['a wait', () => new WaitError('NotShownYet', new Date(Date.now() + 1_500), 'not yet'), 1_500],
  ['a wait until a time that is over', () => new WaitError('NotShownYet', new Date(0), 'not yet'), 100],
  ['the pause after a failure', () => new Error('500'), 1_000],
] as const) {
  test(`${name} lasts its full time, although Redis returns the job immediately`, async (t) => {
    const pauseMs = await pauseAfter(t, error);
    assert.ok(pauseMs >= leastMs - 5, String(pauseMs));
  });
}

test('a long wait is left to the queue, and a short one ends when the process stops', async () => {
  const waits = createWaits();
  const job = { id: 'a', timestamp: 1 };
  assert.equal(waits.begin(job, 60_000), 60_000);
  const restMs = await waits.finish(job, signal);
  assert.ok(restMs > 59_000 && restMs < 59_600, String(restMs));
  assert.ok((await waits.finish(job, AbortSignal.abort(new Error('the process is stopping')))) > 59_000);
});

test('a later job with the same id does not inherit the wait', async () => {
  const waits = createWaits();
  waits.begin({ id: 'a', timestamp: 1 }, 60_000);
  assert.equal(await waits.finish({ id: 'a', timestamp: 2 }, signal), 0);
});
