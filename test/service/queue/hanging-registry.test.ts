import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { connectWorker } from '../../../src/service/queue/connection.ts';
import type { PushJob } from '../../../src/service/queue/jobs.ts';
import { createPushQueue } from '../../../src/service/queue/producer.ts';
import { readPushJob } from '../../../src/service/queue/read-job.ts';
import { createWorker } from '../../../src/service/queue/worker.ts';
import { createRegistryClient } from '../../../src/service/registry/client.ts';
import { fakeImage, startFakeRegistry } from '../../harness/fake-registry.ts';
import { startRedis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

const push = (registry: string, index: number): PushEvent => ({
  id: `${registry.replace(/\D/g, '-')}-${index}-x`,
  receiver: 'any',
  provider: 'generic',
  repository: { registry, path: `team/app-${index}` },
  tag: '1.0.0',
  receivedAt: new Date().toISOString(),
});
const pushes = (registry: string, count: number) => Array.from({ length: count }, (_, index) => push(registry, index));

test('hundreds of repositories of hanging registries take no slot from those of another', async (t) => {
  const redis = await startRedis();
  const [hanging, alsoHanging, healthy] = await Promise.all([startFakeRegistry(), startFakeRegistry(), startFakeRegistry()]);
  const never = new Promise(() => {});
  for (const fake of [hanging, alsoHanging]) fake.answerNext({ after: never }, { times: 1_000_000 });
  const client = createRegistryClient({
    registries: [hanging, alsoHanging, healthy].map(({ host }) => ({ host, insecure: true })),
    allowedRegistries: [],
    credentials: () => [],
    // A time that never comes: nothing but the bounds can help.
    timeoutMs: 3_600_000,
  });
  const producer = connectWorker(redis.url);
  const worker = connectWorker(redis.url);
  const found = new Set<string>();
  const access = { prefix: '{p}', onError: () => undefined };
  const queue = createPushQueue({ ...access, redis: producer }, 0);
  const consumer = createWorker<PushJob>({
    access: { ...access, redis: worker },
    queue: 'push',
    read: readPushJob,
    concurrency: 64,
    now: Date.now,
    random: Math.random,
    async process({ repository, tag }, { signal }) {
      const head = await client.headManifest(repository, tag, signal);
      if (head) found.add(repository.path);
    },
  });
  t.after(async () => {
    await consumer.stop(10_000);
    for (const connection of [producer, worker]) connection.disconnect();
    await Promise.all([hanging, alsoHanging, healthy].map((fake) => fake.stop()));
    await client.close();
    await redis.stop();
  });

  for (let index = 0; index < 40; index++) healthy.setTag(`team/app-${index}`, '1.0.0', fakeImage('a'));
  await queue.add([...pushes(hanging.host, 300), ...pushes(alsoHanging.host, 300)]);
  consumer.start();
  // Hundreds are taken from the queue one after the other.
  const patience = { timeoutMs: 120_000 };
  await waitFor('both to hang', () => hanging.requests.length === 8 && alsoHanging.requests.length === 8, patience);
  await queue.add(pushes(healthy.host, 40));
  await waitFor('the pushes of the healthy one', () => found.size === 40, patience);
  assert.deepEqual([hanging.requests.length, alsoHanging.requests.length], [8, 8]);
});
