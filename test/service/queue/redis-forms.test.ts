/** Sentinel and Cluster: what was acknowledged outlives a failover, and workers go on by themselves. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { connectProducer, connectWorker, type RedisAddress } from '../../../src/service/queue/connection.ts';
import type { PushJob } from '../../../src/service/queue/jobs.ts';
import { createPushQueue } from '../../../src/service/queue/producer.ts';
import { inspect } from '../../../src/service/queue/redis-health.ts';
import { readPushJob } from '../../../src/service/queue/read-job.ts';
import { createWorker } from '../../../src/service/queue/worker.ts';
import { startRedisCluster } from '../../harness/redis-cluster.ts';
import { startRedisGroup, startSecureRedis } from '../../harness/redis-sentinel.ts';
import { startRedis } from '../../harness/redis.ts';
import { findOnPath } from '../../harness/run-command.ts';
import { startSilentRelay } from '../../harness/silent-relay.ts';
import { waitFor } from '../../harness/wait-for.ts';

const prefix = '{image-watcher}';
const patience = { timeoutMs: 90_000 };

const push = (id: string): PushEvent => ({
  id,
  receiver: 'any',
  provider: 'generic',
  repository: { registry: 'r.example.com', path: 'team/app' },
  tag: id,
  receivedAt: new Date().toISOString(),
});

const onError = () => undefined;

type Cleaner = (step: () => unknown) => void;

/** What was started last is ended first: the servers outlive those who want to say goodbye to them. */
function cleanerOf(t: TestContext): Cleaner {
  const steps: (() => unknown)[] = [];
  t.after(async () => {
    for (const step of steps) await step();
  });
  return (step) => void steps.unshift(step);
}

/** `add` comes again until the pushes are acknowledged, as senders do. */
function startProducer(after: Cleaner, place: RedisAddress, minReplicas: number) {
  const redis = connectProducer(place);
  redis.on('error', onError);
  after(() => redis.disconnect());
  const queue = createPushQueue({ redis, prefix, onError }, minReplicas);
  const add = async (...ids: string[]) => {
    const isAdded = () => queue.add(ids.map(push)).then(() => true);
    await waitFor(`${ids.join()} to be acknowledged`, isAdded, { ...patience, intervalMs: 100 });
  };
  const inspectRedis = () =>
    waitFor(
      'Redis to answer in time',
      async () => {
        const health = await inspect(redis, prefix);
        return health.reachable && health;
      },
      patience,
    );
  return { add, look: inspectRedis };
}

function startWorker(after: Cleaner, place: RedisAddress) {
  const redis = connectWorker(place);
  redis.on('error', onError);
  const found = new Set<string>();
  const worker = createWorker<PushJob>({
    access: { redis, prefix, onError },
    queue: 'push',
    read: readPushJob,
    concurrency: 8,
    now: Date.now,
    random: Math.random,
    process: (job) => Promise.resolve(void found.add(job.tag)),
  });
  worker.start();
  after(async () => {
    await worker.stop(10_000);
    redis.disconnect();
  });
  return { done: (...ids: string[]) => waitFor(`${ids.join()} to be done`, () => ids.every((id) => found.has(id)), patience) };
}

test('Sentinel: kill -9 of the master loses nothing that a replica had confirmed', { timeout: 240_000 }, async (t) => {
  const group = await startRedisGroup();
  const addCleanup = cleanerOf(t);
  addCleanup(() => group.stop());
  const address = { url: group.url, sentinels: [group.sentinel], cluster: false };
  const { add, look: inspectRedis } = startProducer(addCleanup, address, 1);
  // Nobody works yet: all of it has to outlive the failover.
  const ids = Array.from({ length: 50 }, (_, index) => `before-${index}`);
  await Promise.all(ids.map((id) => add(id)));
  const [old] = group.servers;
  await old.kill9();
  await waitFor('another master', async () => (await group.master()) !== old, patience);
  const { done } = startWorker(addCleanup, address);
  await add('after');
  await done(...ids, 'after');
  assert.equal((await inspectRedis()).durabilityProblem, undefined);
});

test('Sentinel over TLS: Sentinels are connected over TLS, like the server that they name', { timeout: 240_000 }, async (t) => {
  const group = await startSecureRedis();
  const addCleanup = cleanerOf(t);
  addCleanup(() => group.stop());
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, group.caPem]);
  addCleanup(() => setDefaultCACertificates(trusted));
  const address = { url: group.url, sentinels: [group.sentinel], cluster: false };
  const { add } = startProducer(addCleanup, address, 0);
  await add('secret');
  await startWorker(addCleanup, address).done('secret');
});

test('Sentinel: workers that wait for jobs when the master freezes receive those at the new one', { timeout: 240_000 }, async (t) => {
  const group = await startRedisGroup();
  const addCleanup = cleanerOf(t);
  addCleanup(() => group.stop());
  const address = { url: group.url, sentinels: [group.sentinel], cluster: false };
  const { add } = startProducer(addCleanup, address, 0);
  const { done } = startWorker(addCleanup, address);
  await add('one');
  await done('one');
  const [old] = group.servers;
  old.freeze();
  await waitFor('another master', async () => (await group.master()) !== old, patience);
  await add('two', 'three');
  await done('two', 'three');
});

test('Sentinel: connections that ask for the master while a failover is announced find the new one', { timeout: 240_000 }, async (t) => {
  const group = await startRedisGroup();
  const addCleanup = cleanerOf(t);
  addCleanup(() => group.stop());
  const [host, port = ''] = group.sentinel.split(':');
  const relay = await startSilentRelay(Number(port));
  addCleanup(() => relay.stop());
  const address = { url: group.url, sentinels: [`${host}:${relay.port}`], cluster: false };
  const { add } = startProducer(addCleanup, address, 0);
  const { done } = startWorker(addCleanup, address);
  await add('one');
  await done('one');
  const listener = new Redis(Number(port), host ?? '');
  addCleanup(() => listener.disconnect());
  await listener.subscribe('+switch-master');
  const announced = once(listener, 'message');
  relay.hold();
  await group.servers[0].kill9();
  await announced;
  relay.release();
  await add('two');
  await done('two');
});

test('Sentinel: one that accepts connections and answers nothing is passed over', { timeout: 240_000 }, async (t) => {
  const group = await startRedisGroup();
  const addCleanup = cleanerOf(t);
  addCleanup(() => group.stop());
  const frozen = await startSilentRelay(Number(group.sentinel.split(':')[1]));
  addCleanup(() => frozen.stop());
  frozen.hold();
  const address = { url: group.url, sentinels: [`127.0.0.1:${frozen.port}`, group.sentinel], cluster: false };
  const { add } = startProducer(addCleanup, address, 0);
  const { done } = startWorker(addCleanup, address);
  await add('one');
  await done('one');
});

test('Cluster: what the replica of our slot confirmed survives its node, and work continues', { timeout: 240_000 }, async (t) => {
  const cluster = await startRedisCluster(prefix);
  const addCleanup = cleanerOf(t);
  addCleanup(() => cluster.stop());
  const address = { url: cluster.url, sentinels: [], cluster: true };
  const { add, look: inspectRedis } = startProducer(addCleanup, address, 1);
  const ids = Array.from({ length: 20 }, (_, index) => `before-${index}`);
  await Promise.all(ids.map((id) => add(id)));
  await inspectRedis();
  const old = await cluster.ownerOf(prefix);
  await old.kill9();
  await waitFor('the replica to take over', async () => (await cluster.ownerOf(prefix)) !== old, patience);
  const { done } = startWorker(addCleanup, address);
  await startProducer(addCleanup, address, 0).add('after');
  await done(...ids, 'after');
});

test(
  'Cluster: workers that wait for jobs when the node of our slot freezes receive those at its replica',
  { timeout: 240_000 },
  async (t) => {
    const cluster = await startRedisCluster(prefix);
    const addCleanup = cleanerOf(t);
    addCleanup(() => cluster.stop());
    const address = { url: cluster.url, sentinels: [], cluster: true };
    const { add } = startProducer(addCleanup, address, 0);
    const { done } = startWorker(addCleanup, address);
    await add('one');
    await done('one');
    const old = await cluster.ownerOf(prefix);
    old.freeze();
    await waitFor('the replica to take over', async () => (await cluster.ownerOf(prefix)) !== old, patience);
    await add('two', 'three');
    await done('two', 'three');
  },
);

const valkey = findOnPath(['valkey-server'], ['/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin']);
const lacksValkey = valkey === undefined && 'there is no valkey-server on this machine';

test('Valkey: what was acknowledged survives kill -9, and workers continue', { timeout: 240_000, skip: lacksValkey }, async (t) => {
  const server = await startRedis({ command: valkey });
  const addCleanup = cleanerOf(t);
  addCleanup(() => server.stop());
  const { add, look: inspectRedis } = startProducer(addCleanup, server.url, 0);
  const { done } = startWorker(addCleanup, server.url);
  await add('one');
  await done('one');
  await server.kill9();
  await server.restart();
  await add('two');
  await done('two');
  assert.equal((await inspectRedis()).durabilityProblem, undefined);
});
