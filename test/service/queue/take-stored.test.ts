import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test, type TestContext } from 'node:test';
import { Queue } from 'bullmq';
import { WaitError } from '../../../src/core/model/errors.ts';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { connectProducer, connectWorker } from '../../../src/service/queue/connection.ts';
import type { PushJob } from '../../../src/service/queue/jobs.ts';
import { createPushQueue } from '../../../src/service/queue/producer.ts';
import { readPushJob } from '../../../src/service/queue/read-job.ts';
import { createStoredTaker } from '../../../src/service/queue/take-stored.ts';
import { createWorker, type JobContext, type Processor } from '../../../src/service/queue/worker.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

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

/** The connections of a process, and the queue as others see it. */
async function connect(t: TestContext, url: string, prefix: string) {
  const errors: string[] = [];
  const onError = ({ message }: Error) => void errors.push(message);
  const [producer, consumer] = [connectProducer(url), connectWorker(url)];
  for (const connection of [producer, consumer]) connection.on('error', onError);
  t.after(() => [producer, consumer].forEach((connection) => connection.disconnect()));
  await waitFor('the connections', () => producer.status === 'ready' && consumer.status === 'ready');
  const queue = new Queue<PushJob>('push', { connection: consumer, prefix, skipVersionCheck: true });
  queue.on('error', onError);
  return { producer, consumer, queue, errors, onError };
}

/** A taker without an ordinary worker: what it does not do is not done. */
async function startTaker(
  t: TestContext,
  process: (data: PushJob) => Promise<void>,
  { url = redis.url, concurrency = 8, lockDuration = 60_000 } = {},
) {
  const prefix = `{${randomUUID()}}`;
  const { producer, onError, ...rest } = await connect(t, url, prefix);
  const taker = createStoredTaker<PushJob>({
    storedOn: { redis: producer, prefix, onError },
    queue: 'push',
    concurrency,
    common: { prefix, autorun: false, skipVersionCheck: true, lockDuration },
    process: ({ data }) => process(data),
    onError,
  });
  taker.start();
  t.after(() => taker.stop());
  return { ...rest, prefix, taker, pushes: createPushQueue({ redis: producer, prefix, onError }, 0, undefined, taker.take) };
}

/** A process that receives and works, or (`onlyWorks`) only works. */
async function startProcess(t: TestContext, process: Processor<PushJob>, { prefix = `{${randomUUID()}}`, onlyWorks = false } = {}) {
  const { producer, consumer, queue, errors, onError } = await connect(t, redis.url, prefix);
  const worker = createWorker<PushJob>({
    access: { redis: consumer, prefix, onError },
    queue: 'push',
    concurrency: 8,
    storedOn: onlyWorks ? undefined : { redis: producer, prefix, onError },
    read: readPushJob,
    process,
    now: Date.now,
    random: () => 0,
  });
  worker.start();
  t.after(() => worker.stop(10_000));
  return {
    worker,
    consumer,
    queue,
    errors,
    prefix,
    pushes: createPushQueue({ redis: producer, prefix, onError }, 0, undefined, worker.takeStored),
  };
}

/** Jobs that run until they are released. */
function holdJobs() {
  const running = new Map<string, () => void>();
  const started: string[] = [];
  const lost: string[] = [];
  let most = 0;
  return {
    running,
    started,
    /** Those that a worker had before, which was taken for dead. */
    lost,
    most: () => most,
    async process({ id }: PushJob, context?: JobContext) {
      if (context?.wasLost === true) lost.push(id);
      const { promise, resolve } = Promise.withResolvers<void>();
      running.set(id, resolve);
      started.push(id);
      most = Math.max(most, running.size);
      await promise;
      running.delete(id);
    },
  };
}

test('every push is taken right after it was stored, alone and among many', async (t) => {
  const { queue, pushes, errors } = await startTaker(t, async () => undefined, { concurrency: 64 });
  for (let index = 0; index < 20; index++) {
    await pushes.add([push(`alone-${index}`)]);
    await waitFor('the push to be completed', async () => (await queue.getCompletedCount()) === index + 1);
  }
  await pushes.add(Array.from({ length: 8 }, (_, index) => push(`together-${index}`)));
  await waitFor('all to be completed', async () => (await queue.getCompletedCount()) === 28);
  assert.deepEqual(errors, []);
});

test('a taker runs no more pushes than its concurrency, and takes none once it has stopped', async (t) => {
  const held = holdJobs();
  const { queue, pushes, taker } = await startTaker(t, held.process, { concurrency: 2 });
  await pushes.add(['a', 'b', 'c'].map(push));
  await waitFor('two jobs to run', () => held.running.size === 2);
  const stopped = taker.stop();
  await pushes.add([push('d')]);
  held.running.forEach((release) => release());
  await stopped;
  assert.deepEqual([await queue.getCompletedCount(), await queue.getActiveCount(), await queue.getWaitingCount()], [2, 0, 2]);
});

test('a job that runs long keeps its lock', async (t) => {
  const held = holdJobs();
  const { consumer, prefix, pushes } = await startTaker(t, held.process, { lockDuration: 5_000 });
  await pushes.add([push('a')]);
  await waitFor('the job to run', () => held.running.has('a'));
  let leastMs = Infinity;
  await waitFor('the lock to be renewed', async () => {
    const ms = await consumer.pttl(`${prefix}:push:a:lock`);
    assert.notEqual(ms, -2, 'the lock has ended');
    if (ms > leastMs) return true;
    leastMs = ms;
    return false;
  });
  held.running.get('a')?.();
});

test('a job that ends while Redis is away is completed when Redis is back', async (t) => {
  const own = await startRedis();
  t.after(() => own.stop());
  const held = holdJobs();
  const { queue, pushes } = await startTaker(t, held.process, { url: own.url });
  await pushes.add([push('a')]);
  await waitFor('the job to run', () => held.running.has('a'));
  await own.kill9();
  held.running.get('a')?.();
  await waitFor('the job to end', () => held.running.size === 0);
  await own.restart();
  await waitFor('the job to be completed', async () => (await queue.getCompletedCount()) === 1);
  assert.deepEqual(held.started, ['a']);
});

test('a job that fails is retried by any worker', async (t) => {
  const tries: number[] = [];
  const { queue, pushes } = await startProcess(t, async (_, { failures }) => {
    tries.push(failures);
    if (failures === 0) throw new Error('the registry answered 500');
  });
  await pushes.add([push('a')]);
  await waitFor('the job to be completed', async () => (await queue.getCompletedCount()) === 1);
  assert.deepEqual(tries, [0, 1]);
});

test('a job that must wait is delayed, which does not count as a failure', async (t) => {
  const tries: number[] = [];
  const { queue, pushes } = await startProcess(t, async (_, { failures }) => {
    tries.push(failures);
    if (tries.length === 1) throw new WaitError('MinAge', new Date(Date.now() + 500), 'not yet');
  });
  await pushes.add([push('a')]);
  await waitFor('the job to be completed', async () => (await queue.getCompletedCount()) === 1);
  assert.deepEqual(tries, [0, 0]);
});

test('a job whose lock is lost is run by another worker, and its first end does not complete it', async (t) => {
  const held = holdJobs();
  // It holds the job, and has no room for it a second time.
  const { queue, consumer, prefix, pushes, errors } = await startTaker(t, held.process, { concurrency: 1, lockDuration: 1_000 });
  await pushes.add([push('a')]);
  await waitFor('the job to run', () => held.running.has('a'));
  await consumer.del(`${prefix}:push:a:lock`);
  const second = holdJobs();
  await startProcess(t, second.process, { prefix, onlyWorks: true });
  await waitFor('the other one to run it', () => second.running.has('a'));
  held.running.get('a')?.();
  await waitFor('the first end to be refused', () =>
    errors.some((message) => /lock.*job a\. .*(moveToFinished|from active)/i.test(message)),
  );
  assert.deepEqual([await queue.getCompletedCount(), await queue.getActiveCount()], [0, 1]);
  second.running.get('a')?.();
  await waitFor('the job to be completed', async () => (await queue.getCompletedCount()) === 1);
  assert.deepEqual([held.started, second.started, second.lost, (await queue.getJob('a'))?.attemptsMade], [['a'], ['a'], ['a'], 1]);
});

test('a worker and its taker together run all jobs once, and never more than their concurrency at a time', async (t) => {
  const held = holdJobs();
  const { queue, pushes } = await startProcess(t, held.process);
  const ids = Array.from({ length: 24 }, (_, index) => `job-${index}`);
  await pushes.add(ids.map(push));
  await waitFor('all places to be taken', () => held.running.size === 8);
  await waitFor('all jobs to be completed', async () => {
    held.running.forEach((release) => release());
    return (await queue.getCompletedCount()) === ids.length;
  });
  assert.deepEqual([held.most(), held.started.toSorted()], [8, ids.toSorted()]);
});

test('a worker that stops waits for the jobs that its taker runs', async (t) => {
  const held = holdJobs();
  const { worker, queue, pushes } = await startProcess(t, held.process);
  await pushes.add([push('a')]);
  await waitFor('the job to run', () => held.running.has('a'));
  const stopped = worker.stop(30_000);
  held.running.get('a')?.();
  await stopped;
  assert.deepEqual([await queue.getCompletedCount(), held.started], [1, ['a']]);
});
