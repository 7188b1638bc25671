import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { Queue } from 'bullmq';
import { connectProducer, connectWorker } from '../../../src/service/queue/connection.ts';
import type { PushJob } from '../../../src/service/queue/jobs.ts';
import { createPushQueue } from '../../../src/service/queue/producer.ts';
import { readPushJob } from '../../../src/service/queue/read-job.ts';
import { createWorker } from '../../../src/service/queue/worker.ts';
import { providers } from '../../../src/service/receive/providers/index.ts';
import { startRedis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { readSamples, type Sample } from './providers/read-samples.ts';
import { startApp } from './start-app.ts';

const digestPattern = /(?<=sha256:)[0-9a-f]{64}|[0-9a-f]{64}(?=",)/g;

type Request = Pick<Sample, 'provider' | 'headers' | 'body'>;

/** A registry's receiver, a real Redis, and a worker that reads what the registry holds when it starts a job. */
async function start(t: TestContext, concurrency = 4) {
  const redis = await startRedis();
  const producer = connectProducer(redis.url);
  const consumer = connectWorker(redis.url);
  const onError = () => undefined;
  const prefix = '{image-watcher}';
  const pushes = createPushQueue({ redis: producer, prefix, onError }, 0);
  const jobs = new Queue('push', { connection: producer, prefix, skipVersionCheck: true });
  const registry = { holds: '' };
  const reads: { readonly job: PushJob; readonly found: string }[] = [];
  let hold: Promise<void> | undefined;
  const worker = createWorker<PushJob>({
    access: { redis: consumer, prefix, onError },
    queue: 'push',
    read: readPushJob,
    concurrency,
    now: Date.now,
    random: Math.random,
    process: async (job) => {
      reads.push({ job, found: registry.holds });
      await hold;
    },
  });
  t.after(async () => {
    await worker.stop(5_000);
    producer.disconnect();
    consumer.disconnect();
    await redis.stop();
  });
  await waitFor('the connection', () => producer.status === 'ready');
  const receivers = providers.map((provider) => ({
    name: provider.id,
    provider,
    secrets: () => [],
    unauthenticated: true,
    registryOverride: 'registry.example.com',
  }));
  // Unless a test says otherwise, the clock stands still: all of it happens within one second.
  const clock = { now: new Date('2026-03-01T12:00:00.000Z') };
  const { app } = await startApp(t, {}, { receivers, now: () => clock.now, storePushes: (events) => pushes.add(events) });
  const deliver = async ({ provider, headers, body }: Request): Promise<string[]> => {
    const answer = await app.inject({ method: 'POST', url: `/webhooks/${provider}`, headers, body });
    assert.equal(answer.statusCode, 202, provider);
    return answer.json<{ accepted: { id: string }[] }>().accepted.map(({ id }) => id);
  };
  const idle = () => waitFor('the queue to be empty', async () => (await jobs.getJobCountByTypes('wait', 'active', 'delayed')) === 0);
  return {
    clock,
    redis: producer,
    prefix,
    jobs,
    worker,
    registry,
    reads,
    deliver,
    idle,
    hold: (until: Promise<void>) => void (hold = until),
  };
}

/** The same push as its sender would announce it once more: what is an id of the delivery or event is another one. */
function announcedAgain(sample: Sample): Request {
  const keys = keysOf(sample).map((key) => key.split(' ').at(-1) ?? key);
  const renew = (text: string) => keys.reduce((renewed, key) => renewed.replaceAll(key, `${key.slice(0, 8)}${randomUUID()}`), text);
  return {
    provider: sample.provider,
    headers: Object.fromEntries(Object.entries(sample.headers).map(([name, value]) => [name, renew(value)])),
    body: Buffer.from(renew(sample.body.toString())),
  };
}

/** The push of another digest of the same tag. */
function withDigest(request: Request, digit: string): Request {
  const replace = (text: string) => text.replaceAll(digestPattern, digit.repeat(64));
  const inner = /(?<="data": ?")[A-Za-z0-9+/=]{40,}(?=")/;
  const body = request.body
    .toString()
    .replace(inner, (data) => Buffer.from(replace(Buffer.from(data, 'base64').toString())).toString('base64'));
  return { ...request, body: Buffer.from(replace(body)) };
}

/** The sender's keys for the pushes of a sample; none where it has none. */
function keysOf({ provider, headers, body }: Request): string[] {
  const { pushes = [] } = providers.find(({ id }) => id === provider)?.parse({ headers, body }) ?? {};
  return [...new Set(pushes.flatMap(({ idempotencyKey: key }) => (key === undefined ? [] : [key])))];
}

const samples = readSamples().filter(({ method, decision }) => method === 'POST' && decision === 'push');

test(
  'after pushes of A, B and A again within a second, the registry is read after each, for every provider',
  { timeout: 120_000 },
  async (t) => {
    const { worker, registry, reads, deliver, idle } = await start(t);
    worker.start();
    assert.deepEqual(new Set(samples.map(({ provider }) => provider)), new Set(providers.map(({ id }) => id)));
    const announce = async (request: Request, holds: string) => {
      registry.holds = holds;
      reads.length = 0;
      const ids = await deliver(request);
      await idle();
      return { ids, found: reads.map(({ found }) => found) };
    };
    for (const sample of samples) {
      const name = `${sample.provider}, ${sample.name}`;
      const [first, second, third] = [announcedAgain(sample), withDigest(announcedAgain(sample), 'b'), announcedAgain(sample)];
      const seen = new Set<string>();
      for (const [request, holds] of [
        [first, 'A'],
        [second, 'B'],
        [third, 'A again'],
      ] as const) {
        const { ids, found } = await announce(request, holds);
        assert.deepEqual(
          found,
          ids.map(() => holds),
          `${name}: ${holds}`,
        );
        for (const id of ids) assert.ok(!seen.has(id), `${name}: ${holds} has an id of its own`);
        for (const id of ids) seen.add(id);
      }
      if (keysOf(sample).length === 0) continue;
      const { ids, found } = await announce(first, 'B');
      assert.deepEqual([found, ids.every((id) => seen.has(id))], [[], true], `${name}: a repeated delivery is known by its id`);
    }
  },
);

test('a repeated push of a sender without ids joins its job until the job starts, and is another job afterwards', async (t) => {
  const { clock, redis, prefix, jobs, worker, reads, deliver, idle, hold } = await start(t);
  const quay = samples.find(({ provider }) => provider === 'quay') ?? assert.fail();
  const [first] = await deliver(quay);
  clock.now = new Date('2026-03-01T13:00:00.000Z');
  assert.deepEqual([await deliver(quay), await deliver(quay)], [[first], [first]]);
  const { promise, resolve } = Promise.withResolvers<void>();
  t.after(() => resolve());
  hold(promise);
  worker.start();
  await waitFor('the first to start', () => reads.length === 1);
  const [second] = await deliver(quay);
  assert.notEqual(second, first);
  await waitFor('the second to start', () => reads.length === 2);
  const several = await Promise.all([deliver(quay), deliver(quay)]);
  resolve();
  await idle();
  assert.deepEqual(reads.map(({ job }) => job.id).slice(0, 2), [first, second]);
  assert.equal(reads[0]?.job.receivedAt, clock.now.toISOString(), 'the registry has the whole time to show the last of them');
  for (const [id] of several) assert.ok(reads.slice(2).some(({ job }) => job.id === id));
  assert.equal(await jobs.getCompletedCount(), reads.length);
  assert.deepEqual(await redis.keys(`${prefix}:push:de:*`), [], 'nothing is left behind');
});

test('a push is not coalesced with a job that was deleted from Redis', async (t) => {
  const { redis, prefix, jobs, deliver } = await start(t);
  const quay = samples.find(({ provider }) => provider === 'quay') ?? assert.fail();
  const [first] = await deliver(quay);
  await redis.del(`${prefix}:push:${first}`, `${prefix}:push:wait`);
  const [second] = await deliver(quay);
  assert.notEqual(second, first);
  assert.equal(await jobs.getJobState(second ?? ''), 'waiting');
});

test('several pushes of one delivery are coalesced individually when some wait and some have started', async (t) => {
  const { jobs, worker, reads, deliver, idle, hold } = await start(t, 1);
  const of = (...tags: string[]): Request => ({
    provider: 'generic',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ registry: 'r.example.com', repository: 'shop/web', tags })),
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  t.after(() => resolve());
  hold(promise);
  worker.start();
  const [started] = await deliver(of('a'));
  await waitFor('it to start', () => reads.length === 1);
  const [waiting] = await deliver(of('b'));
  const ids = await deliver(of('a', 'b', 'c'));
  assert.deepEqual([ids.length, ids[0] === started, ids[1] === waiting], [3, false, true]);
  assert.equal(await jobs.getWaitingCount(), 3);
  resolve();
  await idle();
});
