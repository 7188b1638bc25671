import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Queue } from 'bullmq';
import { createTrimming, type Trimmed } from '../../../src/service/queue/trim-redis.ts';
import type { Activity } from '../../../src/core/model/activity.ts';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { createActivityWriter } from '../../../src/service/queue/activity-stream.ts';
import { connectWorker } from '../../../src/service/queue/connection.ts';
import { createEventLog } from '../../../src/service/queue/event-log.ts';
import { bytesPerRecord } from '../../../src/service/queue/event-log.ts';
import type { PushJob } from '../../../src/service/queue/jobs.ts';
import { createPushQueue, createWorkQueues } from '../../../src/service/queue/producer.ts';
import { readPushJob } from '../../../src/service/queue/read-job.ts';
import { createWorker } from '../../../src/service/queue/worker.ts';
import { startRedis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

const prefix = '{p}';
const activity: Activity = {
  type: 'action',
  at: '2026-11-28T12:00:00Z',
  action: 'suspend',
  subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'web' },
};
const push = (id: string): PushEvent => ({
  id,
  receiver: 'any',
  provider: 'generic',
  repository: { registry: 'r.example.com', path: 'shop/web' },
  tag: '1.0.0',
  // Too long ago to be tried again.
  receivedAt: new Date(0).toISOString(),
});

/** Jobs a, b and c failed, d was completed; records e and f; an activity. */
async function start(t: TestContext) {
  const redis = await startRedis();
  const connection = connectWorker(redis.url);
  const access = { redis: connection, prefix, onError: () => undefined };
  const worker = createWorker<PushJob>({
    access,
    queue: 'push',
    read: readPushJob,
    concurrency: 1,
    now: Date.now,
    random: Math.random,
    process: ({ id }) => (id === 'd' ? Promise.resolve() : Promise.reject(new Error('for good'))),
  });
  t.after(async () => {
    await worker.stop(5_000);
    connection.disconnect();
    await redis.stop();
  });
  await createPushQueue(access, 0).add(['a', 'b', 'c', 'd'].map(push));
  worker.start();
  const queue = new Queue('push', { connection, prefix });
  await waitFor('the last to be completed', async () => (await queue.getCompletedCount()) === 1);
  const log = createEventLog({ redis: connection, prefix }, assert.fail);
  for (const id of ['e', 'f']) await log.matched(push(id), ['shop/web']);
  await createActivityWriter({ redis: connection, prefix }, Date.now)({ id: 'g', activity });
  return { connection, queue, queues: createWorkQueues(access, Date.now) };
}

test('in a Redis that stays crowded completed jobs are deleted first, then records, activities and the oldest failed jobs', async (t) => {
  const { connection, queue, queues } = await start(t);
  // Half of what is too much is four records.
  const crowded = { reachable: true, memoryShare: 0.8, memoryLimit: 79 * bytesPerRecord };
  const looks = [crowded, crowded];
  const trimmed: Trimmed[] = [];
  const trimming = createTrimming({
    redis: connection,
    prefix,
    health: () => looks.shift() ?? { reachable: true, memoryShare: 0.5 },
    queues,
    onTrimmed: (one) => void trimmed.push(one),
    onError: (error) => assert.fail(String(error)),
  });
  t.after(() => trimming.stop());
  trimming.start();
  await waitFor('both looks to be reported', () => trimmed.length === 2);
  assert.deepEqual(
    trimmed.map(({ jobs, records, activities, failedJobs }) => [jobs, records, activities, failedJobs]),
    [
      [1, 0, 0, 0],
      [0, 2, 1, 1],
    ],
  );
  assert.deepEqual(
    (await queue.getFailed()).map(({ id }) => id),
    ['c', 'b'],
  );
});
