/** The model of BullMQ's queues does what BullMQ's scripts do on a real Redis: the same random commands, the same jobs after each of them. */
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { Queue, UnrecoverableError, Worker, type Job } from 'bullmq';
import fc from 'fast-check';
import { connectWorker, type RedisConnection } from '../../src/service/queue/connection.ts';
import { keptJobs, type PolicyJob, type PollJob } from '../../src/service/queue/jobs.ts';
import { createPushQueue, createWorkQueues, type PushQueue, type WorkQueues } from '../../src/service/queue/producer.ts';
import { startRedis, type Redis } from '../harness/redis.ts';
import type { JobState } from './job-store.ts';
import { createQueueModel } from './queue-model.ts';

const start = Date.parse('2026-03-01T12:00:00Z');
const lockMs = 60_000;
const names = ['push', 'policy', 'poll'] as const;
const states = ['waiting', 'active', 'delayed', 'completed', 'failed'] as const;
type Name = (typeof names)[number];
type End = 'complete' | 'fail' | 'retry' | 'retry at once' | 'delay';

/** A try that has not ended, with the job as the real worker has it. */
interface Try {
  readonly queue: Name;
  readonly id: string;
  readonly token: string;
  readonly job: Job;
}

/** What is there now, in the model and in Redis. */
interface World {
  readonly model: ReturnType<typeof createModel>;
  readonly real: Awaited<ReturnType<typeof createReal>>;
  readonly tries: Try[];
  count: number;
}

/** One thing that happens, with a text for the story of a failed run. */
interface Step {
  readonly text: string;
  run(world: World): Promise<void>;
}

let redis: Redis;
let connection: RedisConnection;
before(async () => {
  redis = await startRedis();
  connection = connectWorker(redis.url);
  mock.timers.enable({ apis: ['Date'], now: start });
});
after(async () => {
  mock.timers.reset();
  connection.disconnect();
  await redis.stop();
});

function createModel() {
  let lockClock = 0;
  const { stores, connect } = createQueueModel(() => lockClock);
  return { stores, ...connect(), passLock: () => (lockClock += lockMs) };
}

let worlds = 0;
async function createReal() {
  const prefix = `{conformance-${++worlds}}`;
  const access = { redis: connection, prefix, onError: assert.ifError };
  const pause = { ms: 0 };
  const options = { connection, prefix, skipVersionCheck: true };
  const of = (name: Name) => {
    const settings = { backoffStrategy: () => pause.ms };
    const limits = { lockDuration: lockMs, stalledInterval: 1, maxStalledCount: 1_000_000, ...keptJobs };
    const worker = new Worker(name, null, { ...options, ...limits, autorun: false, settings });
    return { queue: new Queue(name, options), worker };
  };
  const parts = { push: of('push'), policy: of('policy'), poll: of('poll') };
  await Promise.all(names.map((name) => parts[name].worker.waitUntilReady()));
  return { ...parts, prefix, pause, pushes: createPushQueue(access, 0), queues: createWorkQueues(access, Date.now) };
}

const push = (id: string, isUnkeyed: boolean, version: number) => ({
  id,
  receiver: 'any',
  provider: 'generic',
  repository: { registry: 'r.example.com', path: 'shop/web' },
  tag: `1.0.${version}`,
  receivedAt: new Date().toISOString(),
  ...(isUnkeyed && { isUnkeyed }),
});
const policyJob = (cause: string, delayMs: number | undefined): PolicyJob => ({
  schema: 1,
  policy: { namespace: 'shop', name: 'web', uid: 'u' },
  source: 'PolicyChange',
  cause,
  receivedAt: new Date().toISOString(),
  ...(delayMs !== undefined && { notBefore: new Date(Date.now() + delayMs).toISOString() }),
});
const pollJob = (index: number): PollJob => ({
  schema: 1,
  repository: { registry: 'r.example.com', path: `shop/web-${index}` },
  intervalMs: 60_000,
  receivedAt: new Date().toISOString(),
});

type Ports = { readonly pushes: PushQueue; readonly queues: WorkQueues };

/** The same call to both. */
const both = (text: string, call: (ports: Ports) => Promise<unknown>): Step => ({
  text,
  async run({ model, real }) {
    await call(model);
    await call(real);
  },
});

const small = fc.integer({ min: 0, max: 5 });
const delay = fc.constantFrom(undefined, 0, 10, 30, 1_000);
const added = fc.oneof(
  fc
    .record({ id: small, isUnkeyed: fc.boolean(), version: small })
    .map(({ id, isUnkeyed, version }) =>
      both(`push ${id}${isUnkeyed ? ' without a key' : ''}`, ({ pushes }) => pushes.add([push(`push-${id}`, isUnkeyed, version)])),
    ),
  fc
    .array(fc.tuple(fc.constantFrom('1', '2', '3', 'request:1'), delay), { minLength: 1, maxLength: 3 })
    .map((list) =>
      both(`policies ${list.join(' ')}`, ({ queues }) => queues.addPolicyJobs(list.map(([cause, ms]) => policyJob(cause, ms)))),
    ),
  fc
    .tuple(small, fc.constantFrom(0, 20))
    .map(([index, delayMs]) => both(`poll ${index} in ${delayMs}`, ({ queues }) => queues.addPolls([{ job: pollJob(index), delayMs }]))),
  fc.constantFrom(40, 1_000).map((everyMs) => both(`tick every ${everyMs}`, ({ queues }) => queues.scheduleTick(everyMs))),
);
const forgotten = fc.constantFrom(
  both('forget completed', ({ queues }) => queues.forgetCompleted()),
  both('forget a failed', ({ queues }) => queues.forgetFailed(1)),
);

const taken = fc.constantFrom(...names).map((queue): Step => ({
  text: `take ${queue}`,
  async run(world) {
    const { model, real, tries } = world;
    const token = `t${world.count++}`;
    const taken = model.stores[queue].take(token, Date.now(), lockMs);
    if (taken.job?.name === 'tick') model.stores[queue].scheduleNext(taken.job.id, Date.now());
    const job = await real[queue].worker.getNextJob(token, { block: false });
    assert.equal(describeJob(taken.job), describeJob(job));
    if (taken.job !== undefined && job !== undefined) tries.push({ queue, id: taken.job.id, token, job });
  },
}));

const ended = fc
  .tuple(fc.nat(), fc.constantFrom<End[]>('complete', 'complete', 'fail', 'retry', 'retry at once', 'delay'))
  .map(([index, end]): Step => ({
    text: `${end} try ${index}`,
    async run({ model, real, tries }) {
      const [one] = tries.length === 0 ? [] : tries.splice(index % tries.length, 1);
      if (one === undefined) return;
      const store = model.stores[one.queue];
      real.pause.ms = end === 'retry' ? 30 : 0;
      const { id, token, job } = one;
      const now = Date.now();
      const { removeOnComplete, removeOnFail } = job.opts;
      const keep = (of: typeof removeOnComplete, kept: typeof keptJobs.removeOnComplete) =>
        of === undefined ? kept : typeof of === 'object' ? of : { count: of === true ? 0 : -1 };
      const isLast = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
      const inModel = await outcome(async () => {
        if (end === 'complete') return store.complete(id, token, now, keep(removeOnComplete, keptJobs.removeOnComplete));
        if (end === 'delay') return store.delay(id, token, now, now + 30);
        if (end === 'fail' || isLast) return store.fail(id, token, now, keep(removeOnFail, keptJobs.removeOnComplete));
        return store.retry(id, token, now, real.pause.ms);
      });
      const inRedis = await outcome(async () => {
        if (end === 'complete') await job.moveToCompleted(undefined, token, false);
        else if (end === 'delay') await job.moveToDelayed(now + 30, token);
        else await job.moveToFailed(end === 'fail' ? new UnrecoverableError('given up') : new Error('500'), token, false);
      });
      assert.equal(inModel, inRedis);
    },
  }));

/** The lock of one job ends, those of all others are renewed. Several at once would be found in an order of Redis' own. */
const lost = fc.nat().map((index): Step => ({
  text: `lose try ${index}`,
  async run(world) {
    await findLost(world);
    const { model, real, tries } = world;
    const lost = tries[index % Math.max(1, tries.length)];
    for (const { queue, id, token, job } of tries) {
      const lock = `${real.prefix}:${queue}:${job.id}:lock`;
      const isHeld = (await connection.get(lock)) === token;
      if (token !== lost?.token)
        assert.equal(model.stores[queue].extend(id, token, 2 * lockMs), (await job.extendLock(token, lockMs)) === 1);
      else if (isHeld) await connection.del(lock);
    }
    model.passLock();
  },
}));
const found: Step = { text: 'find what is lost', run: findLost };

/** A job is found at the second check without a lock. */
async function findLost({ model, real }: World): Promise<void> {
  for (const name of [...names, ...names]) {
    model.stores[name].checkStalled(0);
    await connection.del(`${real.prefix}:${name}:stalled-check`);
    await real[name].worker.backend.moveStalledJobsToWait();
  }
}

const passed = fc.constantFrom(5, 30, 100, 3_600_000).map((ms): Step => ({ text: `${ms} ms pass`, run: async () => mock.timers.tick(ms) }));

async function outcome(act: () => Promise<unknown>): Promise<'done' | 'refused'> {
  try {
    await act();
    return 'done';
  } catch {
    return 'refused';
  }
}

/** Jobs of pushes without a key have random ids: the time of the push tells which. */
function describeJob(
  job: { readonly id?: string | undefined; readonly data: unknown; readonly attemptsMade: number } | undefined,
): string | undefined {
  if (job === undefined) return undefined;
  const text = `${job.id} after ${job.attemptsMade}: ${JSON.stringify(job.data)}`;
  return text.includes('"tag"') ? text.replaceAll(/[0-9a-f]{64}/g, '#') : text;
}

/** All jobs by state, in the order in which they are taken; those that are worked on or have ended, in any. */
async function compare({ model, real }: World): Promise<void> {
  const compareState = async (name: Name, state: JobState) => {
    const inRedis = (await real[name].queue.getJobs([state], 0, -1, true)).map(describeJob);
    const inModel = model.stores[name].list(state).map(describeJob);
    const isOrdered = state === 'waiting' || state === 'delayed';
    const inOrder = (jobs: readonly (string | undefined)[]) => (isOrdered ? jobs : jobs.toSorted((a = '', b = '') => (a < b ? -1 : 1)));
    assert.deepEqual(inOrder(inModel), inOrder(inRedis), `${name} ${state}`);
  };
  await Promise.all(names.flatMap((name) => states.map((state) => compareState(name, state))));
}

test('random commands leave the same jobs in the model as in Redis', { timeout: 300_000 }, async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: added },
    { weight: 6, arbitrary: taken },
    { weight: 5, arbitrary: ended },
    passed,
    lost,
    fc.constant(found),
    forgotten,
  );
  const sequence = fc
    .array(step, { minLength: 20, maxLength: 60 })
    .map((steps) => ({ steps, toString: () => steps.map(({ text }) => text).join('; ') }));
  await fc.assert(
    fc.asyncProperty(sequence, async ({ steps }) => {
      const world: World = { model: createModel(), real: await createReal(), tries: [], count: 0 };
      try {
        for (const { run } of steps) {
          mock.timers.tick(1);
          await run(world);
          await compare(world);
        }
      } finally {
        await Promise.all(names.flatMap((name) => [world.real[name].worker.close(), world.real[name].queue.close()]));
      }
    }),
    { numRuns: 25, interruptAfterTimeLimit: 60_000 },
  );
});
