/** The model of our workers does what they do on a real Redis: the same jobs, tries and ends, whoever runs what; also when a worker dies. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Queue } from 'bullmq';
import fc from 'fast-check';
import { WaitError } from '../../src/core/model/errors.ts';
import { connectWorker, type RedisConnection } from '../../src/service/queue/connection.ts';
import type { PolicyJob } from '../../src/service/queue/jobs.ts';
import { createWorkQueues, type WorkQueues } from '../../src/service/queue/producer.ts';
import { readPolicyJob } from '../../src/service/queue/read-job.ts';
import { createWorker, type JobContext, type Processor, type QueueWorker } from '../../src/service/queue/worker.ts';
import { startRedis, type Redis } from '../harness/redis.ts';
import { waitFor } from '../harness/wait-for.ts';
import { createQueueModel } from './queue-model.ts';

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

/** One process with a worker of the queue `policy`. */
interface Replica {
  readonly queues: WorkQueues;
  readonly worker: Pick<QueueWorker, 'start' | 'stop'>;
  /** The locks of its jobs end, as those of a process that has died. */
  crash(): Promise<unknown>;
}
interface Side {
  start(process: Processor<PolicyJob>, concurrency?: number): Replica;
  /** The jobs in a state, with the number of their tries. */
  list(state: 'waiting' | 'active' | 'delayed' | 'completed' | 'failed'): Promise<string[]>;
  close(): Promise<void>;
}

const workerOptions = { queue: 'policy', concurrency: 2, read: readPolicyJob, random: () => 0 } as const;

let sides = 0;
function realSide(): Side {
  const prefix = `{workers-${++sides}}`;
  const queue = new Queue<PolicyJob>('policy', { connection, prefix });
  const replicas: { readonly worker: QueueWorker; readonly connection: RedisConnection }[] = [];
  return {
    start(process, concurrency = workerOptions.concurrency) {
      const own = connectWorker(redis.url);
      const access = { redis: own, prefix, onError: () => undefined };
      const worker = createWorker<PolicyJob>({ ...workerOptions, concurrency, access, process, now: Date.now });
      replicas.push({ worker, connection: own });
      return {
        worker,
        queues: createWorkQueues(access, Date.now),
        crash: async () => connection.del(await connection.keys(`${prefix}:policy:*:lock`)),
      };
    },
    list: async (state) => describeJobs(await queue.getJobs([state], 0, -1)),
    async close() {
      await Promise.all(replicas.map(({ worker }) => worker.stop(1_000)));
      for (const one of replicas) one.connection.disconnect();
    },
  };
}

function modelSide(): Side {
  const model = createQueueModel();
  const workers: Replica['worker'][] = [];
  return {
    start(process, concurrency = workerOptions.concurrency) {
      const replica = model.connect();
      const worker = replica.createWorker<PolicyJob>({ ...workerOptions, concurrency, process });
      workers.push(worker);
      return { worker, queues: replica.queues, crash: async () => replica.crash() };
    },
    list: async (state) => describeJobs(model.stores.policy.list(state)),
    close: async () => void (await Promise.all(workers.map((worker) => worker.stop(0)))),
  };
}

function describeJobs(jobs: readonly { readonly data: unknown; readonly attemptsMade: number }[]): string[] {
  return jobs.map(({ data, attemptsMade }) => `${(data as PolicyJob).cause} after ${attemptsMade}`).toSorted();
}

/** What happens in each try of a job; it is done afterwards. */
type Ends = readonly ('wait' | 'error')[];
interface Plan {
  readonly ends: Ends;
  readonly delayMs: number;
  readonly isOld: boolean;
}
const jobOf = ({ delayMs, isOld }: Plan, index: number): PolicyJob => ({
  schema: 1,
  policy: { namespace: 'shop', name: 'web', uid: 'u' },
  source: 'PolicyChange',
  cause: String(index),
  // A job fails a day after its cause.
  receivedAt: new Date(isOld ? Date.now() - 25 * 3_600_000 : Date.now()).toISOString(),
  ...(delayMs > 0 && { notBefore: new Date(Date.now() + delayMs).toISOString() }),
});

/** Runs jobs with two workers until all have ended; returns the tries of each, and how all have ended. */
async function runAll(side: Side, plans: readonly Plan[]) {
  const tries = new Map<string, string[]>();
  const process = async ({ cause }: PolicyJob, { failures, isLastTry }: JobContext) => {
    const before = tries.get(cause) ?? [];
    tries.set(cause, [...before, `${failures}${isLastTry ? ' last' : ''}`]);
    const end = plans[Number(cause)]?.ends[before.length];
    if (end === 'error') throw new Error('500');
    if (end === 'wait') throw new WaitError('MinAge', new Date(Date.now() + 30), 'not yet');
  };
  const [first, second] = [side.start(process), side.start(process)];
  const jobs = plans.map(jobOf);
  await first.queues.addPolicyJobs(jobs);
  await second.queues.addPolicyJobs(jobs);
  first.worker.start();
  second.worker.start();
  const ended = async () => [...(await side.list('completed')), ...(await side.list('failed'))];
  await waitFor('all jobs to end', async () => (await ended()).length === plans.length);
  const result = {
    tries: [...tries].toSorted(([a], [b]) => Number(a) - Number(b)),
    completed: await side.list('completed'),
    failed: await side.list('failed'),
  };
  await side.close();
  return result;
}

test('workers of the model try and end random jobs as those on a real Redis', { timeout: 300_000 }, async () => {
  const plan = fc.record({
    ends: fc.array(fc.constantFrom('wait' as const, 'error' as const), { maxLength: 2 }),
    delayMs: fc.constantFrom(0, 0, 50),
    isOld: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 6 }), async (plans) => {
      const [inModel, inRedis] = await Promise.all([runAll(modelSide(), plans), runAll(realSide(), plans)]);
      assert.deepEqual(inModel, inRedis);
    }),
    { numRuns: 2, endOnFailure: true },
  );
});

test('a job whose worker dies is taken by another worker, as its first try', { timeout: 300_000 }, async () => {
  const run = async (side: Side) => {
    const ran: string[] = [];
    const end = Promise.withResolvers<void>();
    // Its process lives on here, and must have no room to take the job again.
    const dying = side.start(async ({ cause }) => {
      ran.push(`${cause} by the first`);
      await end.promise;
    }, 1);
    await dying.queues.addPolicyJobs([jobOf({ ends: [], delayMs: 0, isOld: false }, 0)]);
    dying.worker.start();
    await waitFor('the job to run', () => ran.length === 1);
    const other = side.start(async ({ cause }, { failures }) => void ran.push(`${cause} by the second after ${failures}`));
    other.worker.start();
    await dying.crash();
    await waitFor('the job to be done', async () => (await side.list('completed')).length === 1);
    end.resolve();
    await side.close();
    const result = { ran, completed: await side.list('completed') };
    return result;
  };
  const [inModel, inRedis] = await Promise.all([run(modelSide()), run(realSide())]);
  assert.deepEqual(inModel, { ran: ['0 by the first', '0 by the second after 0'], completed: ['0 after 1'] });
  assert.deepEqual(inModel, inRedis);
});

test('a frozen worker that continues does not end a job that another worker has taken', async (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'] });
  const pass = async (seconds: number) => {
    for (let step = 0; step < seconds * 10; step++) {
      t.mock.timers.tick(100);
      await new Promise(setImmediate);
    }
  };
  const model = createQueueModel();
  const start = () => {
    const replica = model.connect();
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const context: JobContext[] = [];
    replica.createWorker<PolicyJob>({ ...workerOptions, process: (_, of) => promise.then(() => void context.push(of)) }).start();
    return { ...replica, end, context };
  };
  const { policy } = model.stores;
  const first = start();
  await first.queues.addPolicyJobs([jobOf({ ends: [], delayMs: 0, isOld: false }, 0)]);
  await pass(20);
  const second = start();
  await pass(20);
  first.freeze();
  await pass(10);
  first.thaw();
  first.end();
  await pass(20);
  assert.deepEqual([first.context.length, policy.list('active').length], [1, 1]);
  const isOurs = first.context[0]?.isOurs();
  await pass(1);
  assert.equal(await isOurs, false);
  second.end();
  await pass(1);
  assert.deepEqual([second.context.length, policy.list('completed').length], [1, 1]);
  assert.deepEqual([first.context[0]?.wasLost, second.context[0]?.wasLost], [false, true]);
});
