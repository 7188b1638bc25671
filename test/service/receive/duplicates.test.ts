import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Queue } from 'bullmq';
import { createRandom } from '../../../bench/fuzz/random.ts';
import { connectProducer } from '../../../src/service/queue/connection.ts';
import { createPushQueue } from '../../../src/service/queue/producer.ts';
import { providers } from '../../../src/service/receive/providers/index.ts';
import { startRedis } from '../../harness/redis.ts';
import { resend } from '../../harness/resend.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { shuffle } from '../../end-to-end/fleet.ts';
import { readSamples } from './providers/read-samples.ts';
import { startApp } from './start-app.ts';

test(
  'every sample sent ten times, in any order and to two replicas, puts each of its pushes into the queue once',
  { timeout: 120_000 },
  async (t) => {
    const redis = await startRedis();
    const connection = connectProducer(redis.url);
    const access = { redis: connection, prefix: '{image-watcher}', onError: () => undefined };
    t.after(async () => {
      connection.disconnect();
      await redis.stop();
    });
    await waitFor('the connection', () => connection.status === 'ready');
    const queue = createPushQueue(access, 0);
    const receivers = providers.map((provider) => ({
      name: provider.id,
      provider,
      secrets: () => [],
      unauthenticated: true,
      registryOverride: 'registry.example.com',
    }));
    const replicas = await Promise.all([0, 1].map(() => startApp(t, {}, { receivers, storePushes: (events) => queue.add(events) })));

    const ids = new Map<string, string>();
    const once = new Set<string>();
    const random = createRandom(20261121);
    const samples = readSamples().filter(({ method }) => method === 'POST');
    const deliveries = samples.flatMap((sample, index) => Array.from({ length: 10 }, () => ({ sample, index })));
    for (const { sample, index } of shuffle(deliveries, random.below)) {
      const { app } = random.pick(replicas) ?? assert.fail();
      const { headers, body, provider } = sample;
      const answer = await resend(async () => {
        const answer = await app.inject({ method: 'POST', url: `/webhooks/${provider}`, headers, body });
        return { status: answer.statusCode, answer };
      });
      const { accepted = [] } = answer.answer.json<{ accepted?: { id: string }[] }>();
      const acceptedIds = accepted.map(({ id }) => id).join();
      assert.equal(
        acceptedIds,
        ids.get(String(index)) ?? acceptedIds,
        `${provider}, ${sample.name}: a repetition has the ids of the first`,
      );
      ids.set(String(index), acceptedIds);
      for (const { id } of accepted) once.add(id);
    }
    const stored = new Queue('push', { connection, prefix: access.prefix, skipVersionCheck: true });
    assert.ok(once.size > 20, String(once.size));
    assert.equal(await waitFor('the count', () => stored.getWaitingCount()), once.size);
  },
);
