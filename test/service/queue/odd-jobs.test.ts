/** Data that nobody of us wrote: whoever can write to Redis can write jobs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Queue } from 'bullmq';
import { connectWorker } from '../../../src/service/queue/connection.ts';
import type { PollJob } from '../../../src/service/queue/jobs.ts';
import { createWorker } from '../../../src/service/queue/worker.ts';
import { readPollQueueJob } from '../../../src/service/queue/read-job.ts';
import type { TickJob } from '../../../src/service/queue/producer.ts';
import { startRedis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

test('malformed jobs fail, are delayed before each retry, and are given up after a day, without blocking a worker', async (t) => {
  const server = await startRedis();
  const redis = connectWorker(server.url);
  const errors: Error[] = [];
  const access = { redis, prefix: '{odd}', onError: (error: Error) => void errors.push(error) };
  const queue = new Queue('poll', { connection: redis, prefix: access.prefix });
  let ticks = 0;
  const worker = createWorker<PollJob | TickJob>({
    access,
    queue: 'poll',
    concurrency: 2,
    read: readPollQueueJob,
    process: async () => void ticks++,
    now: Date.now,
    // The longest pause: whoever is not paused comes back at once.
    random: () => 1,
    longestPauseMs: (job) => ('intervalMs' in job ? job.intervalMs : 60_000),
  });
  t.after(async () => {
    await worker.stop(5_000);
    await queue.close();
    redis.disconnect();
    await server.stop();
  });
  worker.start();
  const odd = [null, 'text', 5, [], {}, { schema: 1, intervalMs: 'x' }, { schema: 1, intervalMs: {} }, { schema: 1, intervalMs: -1 }];
  const options = { attempts: 1_000_000, backoff: { type: 'custom' } };
  for (const data of odd) await queue.add('poll', data, options);
  for (const data of [null, { schema: 1, receivedAt: {} }])
    await queue.add('poll', data, { ...options, timestamp: Date.now() - 25 * 3_600_000 });
  await queue.add('tick', { schema: 1 }, options);
  await waitFor('all to have been tried', async () => {
    const { delayed = 0, failed = 0, completed = 0 } = await queue.getJobCounts();
    return delayed === odd.length && failed === 2 && completed === 1;
  });
  for (const { attemptsMade, stalledCounter } of await queue.getDelayed()) assert.deepEqual([attemptsMade, stalledCounter], [1, 0]);
  assert.deepEqual([ticks, errors], [1, []]);
});
