import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test, type TestContext } from 'node:test';
import type { PushEvent } from '../../src/model/push-event.ts';
import { connectProducer, connectWorker } from '../../src/queue/connection.ts';
import type { PushJob } from '../../src/queue/jobs.ts';
import type { DirectTaker } from '../../src/queue/direct-worker.ts';
import { createPushQueue } from '../../src/queue/producer.ts';
import { readPushJob } from '../../src/queue/read-job.ts';
import { createWorker } from '../../src/queue/worker.ts';
import { startRedis, type Redis } from '../harness/redis.ts';
import { startSilentRelay } from '../harness/silent-relay.ts';
import { waitFor } from '../harness/wait-for.ts';

let redis: Redis;
before(async () => void (redis = await startRedis()));
after(() => redis.stop());

const push = (id: string): PushEvent => ({
  id,
  receiver: 'any',
  provider: 'generic',
  repository: { registry: 'registry.example.com', path: 'shop/web' },
  tag: '1.0.0',
  receivedAt: new Date().toISOString(),
});

interface Options {
  readonly concurrency?: number;
  /** The address of the queue; the worker's is Redis itself. */
  readonly queueUrl?: string;
  readonly onError?: (error: Error) => void;
  /** In place of the worker's own. */
  readonly taker?: DirectTaker;
  readonly onTaken?: (push: PushJob) => void;
}

/** A queue and a worker of one process, where the worker takes what the queue adds. Jobs run until they are released. */
async function start(t: TestContext, options: Options = {}) {
  const { concurrency = 8, queueUrl = redis.url, onError = () => undefined, onTaken } = options;
  const prefix = `{${randomUUID()}}`;
  const [producer, consumer] = [connectProducer(queueUrl), connectWorker(redis.url)];
  const running = new Map<string, PromiseWithResolvers<void>>();
  const worker = createWorker<PushJob>({
    access: { redis: consumer, prefix, onError },
    queue: 'push',
    read: readPushJob,
    concurrency,
    now: Date.now,
    random: Math.random,
    async process({ id }) {
      const job = Promise.withResolvers<void>();
      running.set(id, job);
      await job.promise;
    },
  });
  t.after(async () => {
    for (const job of running.values()) job.resolve();
    await worker.stop(10_000);
    producer.disconnect();
    consumer.disconnect();
  });
  await waitFor('the connections', () => producer.status === 'ready' && consumer.status === 'ready');
  const taker = options.taker ?? worker.takerOn({ redis: producer, onError });
  const queue = createPushQueue({ redis: producer, prefix, onError }, 0, { taker, onTaken });
  const key = (name: string) => `${prefix}:push:${name}`;
  return {
    worker,
    queue,
    running,
    /** Who took a job: the token of its lock. */
    takerOf: (id: string) => consumer.get(key(`${id}:lock`)),
    marker: () => consumer.zscore(key('marker'), '0'),
    keys: async () => (await consumer.keys(`${prefix}*`)).map((name) => name.slice(key('').length)),
    /** How often workers have begun to wait for jobs. */
    waits: async () => Number(/cmdstat_bzpopmin:calls=(\d+)/.exec(await consumer.info('commandstats'))?.[1]),
    setPaused: (isPaused: boolean) => (isPaused ? consumer.hset(key('meta'), 'paused', 1) : consumer.hdel(key('meta'), 'paused')),
    /** What calls a worker, as a process that does not run any more gets it. */
    awaitCall: async () => {
      const frozen = connectWorker(redis.url);
      t.after(() => frozen.disconnect());
      await waitFor('the connection', () => frozen.status === 'ready');
      return { call: frozen.bzpopmin(key('marker'), 0).catch(() => undefined) };
    },
    forgetScripts: () => consumer.script('FLUSH'),
    isCompleted: async (id: string) => (await consumer.zscore(key('completed'), id)) !== null,
    /** Resolves when the worker blocks on Redis. */
    waiting: () => waitFor('the worker to wait', async () => /cmd=bzpopmin/.test((await consumer.client('LIST')) as string)),
    cut: () => producer.disconnect(),
  };
}

test('a push is taken in the write that stores it, and no worker is called', async (t) => {
  const { worker, queue, running, takerOf, marker, isCompleted, waiting, waits, keys } = await start(t);
  worker.start();
  await waiting();
  const before = await waits();
  await queue.add([push('a')]);
  await waitFor('the job to run', () => running.has('a'));
  assert.match((await takerOf('a')) ?? '', /:direct:/);
  running.get('a')?.resolve();
  await waitFor('the job to be completed', () => isCompleted('a'));
  assert.deepEqual([await waits(), await marker()], [before, null]);
  assert.ok(!(await keys()).some((key) => key.startsWith('marker')), 'no key of ours is left');
});

test('another process is called to a job that is waiting beside the one that is taken', async (t) => {
  const { worker, queue, running, marker } = await start(t, { concurrency: 1 });
  await queue.add([push('early')]);
  assert.equal(await marker(), '0');
  worker.start();
  await waitFor('the first job to run', () => running.has('early'));
  await queue.add([push('while-busy')]);
  assert.equal(await marker(), '0');
});

describe('a push that is stored without a call is processed all the same', () => {
  test('because Redis had forgotten the script that stores it, and took first', async (t) => {
    const { worker, queue, running, waiting, forgetScripts } = await start(t);
    worker.start();
    await waiting();
    await forgetScripts();
    await queue.add([push('a')]);
    await waitFor('the job to run', () => running.has('a'));
  });

  test('because its taker died before Redis had all of the write', async (t) => {
    const { worker, queue, running, waiting, marker } = await start(t, { taker: { isFree: () => true, take: () => undefined } });
    worker.start();
    await waiting();
    await queue.add([push('a')]);
    assert.equal(await marker(), null);
    // Less than a worker waits for a call.
    await waitFor('the job to run', () => running.has('a'), { timeoutMs: 25_000 });
  });

  test('because a process was called that does not run any more', async (t) => {
    const { worker, queue, running, waiting, awaitCall } = await start(t, { taker: { isFree: () => false, take: () => undefined } });
    const { call } = await awaitCall();
    await waiting();
    worker.start();
    await queue.add([push('a')]);
    assert.notEqual(await call, undefined);
    await waitFor('the job to run', () => running.has('a'), { timeoutMs: 25_000 });
  });
});

test('a paused queue keeps the pushes, and no worker asks for them again and again', async (t) => {
  const { worker, queue, running, waiting, waits, setPaused } = await start(t);
  worker.start();
  await waiting();
  await setPaused(true);
  const before = await waits();
  for (let number = 0; number < 10; number++) await queue.add([push(`push-${number}`)]);
  assert.ok((await waits()) - before <= 20);
  assert.equal(running.size, 0);
  await setPaused(false);
  await waitFor('the jobs to run', () => running.size === 8);
});

test('the queue reports the pushes that are about to be taken, before Redis has answered', async (t) => {
  const relay = await startSilentRelay(Number(new URL(redis.url).port));
  t.after(() => relay.stop());
  const reported: string[] = [];
  const queueUrl = `redis://127.0.0.1:${relay.port}`;
  const { worker, queue, waiting, cut } = await start(t, { queueUrl, onTaken: ({ id }) => void reported.push(id) });
  relay.swallowAnswers();
  const early = assert.rejects(queue.add([push('early')]));
  worker.start();
  await waiting();
  const added = assert.rejects(queue.add([push('a'), push('b')]));
  await waitFor('the reports', () => reported.length === 2);
  assert.deepEqual(reported, ['a', 'b']);
  cut();
  await Promise.all([early, added]);
});

test('every push of a delivery is taken at once', async (t) => {
  const { worker, queue, running, takerOf, waiting } = await start(t);
  worker.start();
  await waiting();
  await queue.add(['a', 'b', 'c'].map(push));
  await waitFor('the jobs to run', () => running.size === 3);
  const takers = await Promise.all(['a', 'b', 'c'].map(takerOf));
  assert.equal(takers.filter((taker) => taker?.includes(':direct:')).length, 3);
});

test('what is pushed before the worker runs, or while it is busy, is taken as soon as it can be', async (t) => {
  const { worker, queue, running, takerOf, isCompleted } = await start(t, { concurrency: 1 });
  await queue.add([push('early')]);
  worker.start();
  await waitFor('the first job to run', () => running.has('early'));
  assert.doesNotMatch((await takerOf('early')) ?? '', /:direct:/);
  await queue.add([push('while-busy')]);
  assert.equal(await takerOf('while-busy'), null);
  running.get('early')?.resolve();
  await waitFor('the second job to run', () => running.has('while-busy'));
  running.get('while-busy')?.resolve();
  await waitFor('both to be completed', async () => (await isCompleted('early')) && isCompleted('while-busy'));
});

test('a worker that stops finishes what it took at once', async (t) => {
  const { worker, queue, running, isCompleted, waiting } = await start(t);
  worker.start();
  await waiting();
  await queue.add([push('a')]);
  await waitFor('the job to run', () => running.has('a'));
  const stopped = worker.stop(30_000);
  await queue.add([push('later')]);
  running.get('a')?.resolve();
  await stopped;
  assert.equal(await isCompleted('a'), true);
  assert.equal(running.has('later'), false);
});

test('a push whose taker loses its connection before it knows is processed all the same', async (t) => {
  const relay = await startSilentRelay(Number(new URL(redis.url).port));
  t.after(() => relay.stop());
  const { worker, queue, running, isCompleted, waiting, cut } = await start(t, { queueUrl: `redis://127.0.0.1:${relay.port}` });
  worker.start();
  await waiting();
  // Redis gets the write, and no answer comes back.
  relay.swallowAnswers();
  await assert.rejects(queue.add([push('a')]));
  cut();
  await waitFor('the job to run', () => running.has('a'), { timeoutMs: 60_000 });
  running.get('a')?.resolve();
  await waitFor('the job to be completed', () => isCompleted('a'));
});

test('a queue whose Redis dies reports it, and is used again when Redis is back', async (t) => {
  const own = await startRedis();
  const errors: Error[] = [];
  t.after(() => own.stop());
  const { queue } = await start(t, { queueUrl: own.url, onError: (error) => void errors.push(error) });
  await own.kill9();
  await waitFor('the error', () => errors.length > 0);
  await assert.rejects(queue.add([push('a')]));
  await own.restart();
  await waitFor('the queue to store pushes', async () => (await queue.add([push('b')]).catch(() => [])).length === 1);
});
