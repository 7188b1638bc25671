import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPollGate } from '../../../src/service/poll/poll-gate.ts';
import { processPoll } from '../../../src/service/poll/process-poll.ts';
import { connectWorker, type RedisConnection } from '../../../src/service/queue/connection.ts';
import type { PollJob } from '../../../src/service/queue/jobs.ts';
import { createWorkQueues } from '../../../src/service/queue/producer.ts';
import { readPollQueueJob } from '../../../src/service/queue/read-job.ts';
import { createWorker } from '../../../src/service/queue/worker.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { createWorld } from '../reconcile/world.ts';

const hour = 3_600_000;
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

test('a registry with endless lists occupies only its own slots, and polls of another continue', async (t) => {
  const never = Promise.withResolvers<undefined>();
  let [running, most] = [0, 0];
  const polled = new Set<string>();
  const world = createWorld({
    poll: { gate: createPollGate({ slotsOf: () => 2, now: Date.now, random: Math.random }) },
    registry: {
      async listTags({ registry, path }) {
        if (registry === 'slow.example.com') {
          most = Math.max(most, ++running);
          await never.promise;
        }
        polled.add(`${registry}/${path}`);
        return ['1.0.0'];
      },
    },
  });
  const repositories = [
    ...Array.from({ length: 40 }, (_, index) => ({ registry: 'slow.example.com', path: `shop/web-${index}` })),
    ...Array.from({ length: 5 }, (_, index) => ({ registry: 'quick.example.com', path: `shop/web-${index}` })),
  ];
  world.put(...repositories.map((repository, index) => policyOf({ name: `p-${index}`, spec: specOf({ repository }) })));
  const access = { redis: connection, prefix: '{fairness}', onError: () => undefined };
  const receivedAt = new Date().toISOString();
  const jobs = repositories.map((repository): PollJob => ({ schema: 1, repository, intervalMs: hour, receivedAt }));
  await createWorkQueues(access, Date.now).addPolls(jobs.map((job) => ({ job, delayMs: 0 })));
  const worker = createWorker<PollJob>({
    access,
    queue: 'poll',
    read: (data) => readPollQueueJob(data) as PollJob,
    concurrency: 4,
    process: (job, context) => processPoll(job, context, world.ports),
    now: Date.now,
    random: Math.random,
  });
  t.after(async () => {
    never.resolve(undefined);
    await worker.stop(10_000);
  });
  worker.start();
  // Those who find no place come later: until all of the other are done.
  await waitFor('the polls of the other registry', () => polled.size === 5);
  assert.ok([...polled].every((name) => name.startsWith('quick.example.com/')));
  assert.equal(most, 2);
});
