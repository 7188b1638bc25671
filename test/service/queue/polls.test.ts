import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Queue } from 'bullmq';
import { connectWorker, type RedisConnection } from '../../../src/service/queue/connection.ts';
import type { PollJob } from '../../../src/service/queue/jobs.ts';
import { createWorkQueues } from '../../../src/service/queue/producer.ts';
import { readPollQueueJob } from '../../../src/service/queue/read-job.ts';
import { createWorker } from '../../../src/service/queue/worker.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

let redis: Redis;
let connection: RedisConnection;
before(async () => {
  redis = await startRedis();
  connection = connectWorker(redis.url);
});
after(async () => {
  connection.disconnect();
  await redis.stop();
});

const hour = 3_600_000;
const now = Date.now();
const pollOf = (index: number): PollJob => ({
  schema: 1,
  repository: { registry: 'r.example.com', path: `shop/web-${index}` },
  intervalMs: hour,
  receivedAt: new Date(now).toISOString(),
});

let worlds = 0;
function start() {
  const access = { redis: connection, prefix: `{polls-${++worlds}}`, onError: () => undefined };
  const queue = new Queue<PollJob>('poll', { connection, prefix: access.prefix });
  return { access, queue, queues: createWorkQueues(access, Date.now) };
}

test('a poll that is queued or delayed is not queued again, however often it is due', async () => {
  const { queue, queues } = start();
  const missed = Array.from({ length: 1_200 }, (_, index) => ({ job: pollOf(index), delayMs: index < 200 ? 0 : hour }));
  await queues.addPolls(missed);
  await queues.addPolls(missed.map(({ job }) => ({ job, delayMs: 0 })));
  const counts = await queue.getJobCounts('waiting', 'delayed');
  assert.deepEqual(counts, { waiting: 200, delayed: 1_000 });
});

test('a failed poll waits no longer than its worker says', async (t) => {
  const { access, queue, queues } = start();
  await queues.addPolls([{ job: pollOf(1), delayMs: 0 }]);
  const worker = createWorker<PollJob>({
    access,
    queue: 'poll',
    read: (data) => readPollQueueJob(data) as PollJob,
    concurrency: 1,
    process: () => Promise.reject(new Error('500')),
    now: () => now,
    // The longest pause that there is.
    random: () => 1,
    longestPauseMs: ({ intervalMs }) => intervalMs / 3_600,
  });
  t.after(() => worker.stop(1_000));
  worker.start();
  const failures = await waitFor('the third try', async () => {
    const [job] = await queue.getDelayed();
    // One whose pause ends just now has none any more.
    return job !== undefined && job.attemptsMade >= 2 && job.delay > 0 && { delay: job.delay };
  });
  assert.equal(failures.delay, 1_000);
});
