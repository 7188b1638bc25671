/** One service in a cluster of a size: its start, its rest, pushes, and a watch that is lost. */
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Queue } from 'bullmq';
import type { OwnControlPlane } from '../../test/harness/control-plane.ts';
import { harborBody } from '../../test/end-to-end/world.ts';
import { resend } from '../../test/harness/resend.ts';
import { inTurns } from '../rows/latency.ts';
import { each } from '../world/applications.ts';
import { countKubeRequests, difference, readCpuMs, readMetric, readRss } from '../world/counters.ts';
import { removeFromEtcd } from '../world/fill-cluster.ts';
import { monitorRedis, type RedisTraffic } from '../world/redis-monitor.ts';
import type { Side } from '../world/sides.ts';
import { percentile, round } from '../world/statistics.ts';
import { secret, type BenchWorld, type Product } from '../world/world.ts';
import { countObjects, longestSilence, readGauge, untilKnown, untilWorking } from './observe.ts';
import { readContents, readRedisWork, total } from './redis-contents.ts';

/** What is measured. */
export interface Subject {
  readonly world: BenchWorld;
  readonly product: Product;
  readonly redis: Redis;
  /** How long the rest is. */
  readonly restMs: number;
}

const unwatchedPushes = 2_000;
const monitoredPushes = 200;

/** Starts the service again: until it takes jobs, and knows this many of each. `starts`: how often it has started. */
export async function measureStart({ world, product }: Subject, wanted: Readonly<Record<string, number>>, starts: number) {
  const before = await countKubeRequests(world.cluster);
  const begin = performance.now();
  await product.restart();
  const listening = performance.now() - begin;
  const [working, silentMs] = await longestSilence(product, async () => {
    await untilKnown(product, wanted);
    const known = performance.now() - begin;
    await untilWorking(product, starts);
    return { knownSeconds: round(known / 1_000, 1), workingSeconds: round((performance.now() - begin) / 1_000, 1) };
  });
  const cpuSeconds = round(readCpuMs(product.pid) / 1_000, 1);
  const rssAfterStart = readRss(product.pid);
  const { apiServer, etcd } = world.cluster as OwnControlPlane;
  const others = { apiServerRss: readRss(apiServer.pid), etcdRss: readRss(etcd.pid) };
  const requests = difference(before, await countKubeRequests(world.cluster));
  return { listeningSeconds: round(listening / 1_000, 1), ...working, silentMs, cpuSeconds, rssAfterStart, ...others, requests };
}

/** A minute without a push, and half a minute in which it is asked whether it lives. */
export async function measureRest({ world, product, restMs }: Subject) {
  // Garbage is collected 5 s after the start.
  await delay(restMs / 8);
  const rss = readRss(product.pid);
  const heap = (await readGauge(product, 'nodejs_heap_size_used_bytes')) / 1e6;
  const before = await countKubeRequests(world.cluster);
  const [polls, cpu] = [await readMetric(product, 'image_watcher_polls_total'), readCpuMs(product.pid)];
  await delay(restMs);
  const cpuMsPerMinute = readCpuMs(product.pid) - cpu;
  const writes = difference(before, await countKubeRequests(world.cluster))['PATCH imagepolicies/status'] ?? 0;
  const pollsPerMinute = (await readMetric(product, 'image_watcher_polls_total')) - polls;
  const [, silentMs] = await longestSilence(product, () => delay(restMs / 2));
  return { rss, heap: round(heap, 1), cpuMsPerMinute, pollsPerMinute, statusWrites: writes, silentMs, rssAfterwards: readRss(product.pid) };
}

/** Floor and product in turns. */
export async function measureLatency(sides: readonly Side[]) {
  const [floor = [], product = []] = await inTurns(sides, { rounds: 10, everyMs: 150, warmUp: 1 });
  const of = (times: readonly number[]) => ({ p50: round(percentile(times, 0.5)), p99: round(percentile(times, 0.99)) });
  return { floorMs: of(floor), productMs: of(product) };
}

/** What pushes cost that no policy watches, and what is left of them. */
export async function measureUnwatched(subject: Subject) {
  const spent = await measurePushes(subject, unwatchedPushes, () => sendUnwatched(subject, 'measured', unwatchedPushes));
  const monitored = await monitorRedis(subject.world.redis.url, () => sendUnwatched(subject, 'monitored', monitoredPushes));
  return { ...spent, ...perPush(monitored, monitoredPushes) };
}

/** The same of pushes that one policy each watches, one after the other. */
export async function measureWatched(subject: Subject, side: Side) {
  const rounds = 5;
  const pushes = rounds * side.applications.length;
  const update = async () => {
    for (let done = 0; done < rounds; done++) {
      await side.prepare();
      for (const application of side.applications) {
        await side.push(application);
        await side.reported(application);
      }
    }
    await side.untilQuiet();
  };
  const spent = await measurePushes(subject, pushes, update);
  return { ...spent, ...perPush(await monitorRedis(subject.world.redis.url, update), pushes) };
}

/** What is left in Redis of each push, and what it has cost service and Redis. */
async function measurePushes({ product, redis }: Subject, pushes: number, work: () => Promise<void>) {
  const before = { ...total(await readContents(redis, product.prefix)), ...(await readRedisWork(redis)), cpuMs: readCpuMs(product.pid) };
  await work();
  const cpuMs = readCpuMs(product.pid) - before.cpuMs;
  const { cpuSeconds, aofBytes } = await readRedisWork(redis);
  const after = total(await readContents(redis, product.prefix));
  return {
    cpuMs: round(cpuMs / pushes),
    redisCpuMs: round(((cpuSeconds - before.cpuSeconds) * 1_000) / pushes, 3),
    aofBytes: Math.round((aofBytes - before.aofBytes) / pushes),
    keys: round((after.keys - before.keys) / pushes),
    bytes: Math.round((after.bytes - before.bytes) / pushes),
  };
}

/** What Redis holds now, when an hour is over (completed jobs are gone), and when a week is over (records are gone). */
export async function measureContents({ product, redis }: Subject) {
  const now = await readContents(redis, product.prefix);
  for (const name of ['push', 'policy']) {
    const queue = new Queue(name, { connection: redis, prefix: product.prefix, skipVersionCheck: true });
    await queue.clean(0, 100_000, 'completed');
  }
  const afterAnHour = await readContents(redis, product.prefix);
  const afterAWeek = Object.fromEntries(Object.entries(afterAnHour).filter(([, { keys, expiring }]) => keys > expiring));
  return { now, afterAnHour: { ...total(afterAnHour) }, afterAWeek };
}

/** A watch is lost, and what it missed is not in the memory of the API server, which was started anew: until the service has listed everything again. */
export async function measureResync({ world, product }: Subject, bulk: { readonly namespace: string; readonly name: string }) {
  const counts = await countObjects(product);
  const { apiServer } = world.cluster as OwnControlPlane;
  product.freeze();
  await apiServer.kill9();
  await removeFromEtcd(world.cluster.etcd.url, bulk);
  const begin = performance.now();
  await apiServer.restart();
  const apiServerSeconds = round((performance.now() - begin) / 1_000, 1);
  const cpu = readCpuMs(product.pid);
  const thawed = performance.now();
  product.thaw();
  const [, silentMs] = await longestSilence(product, () =>
    untilKnown(product, { policies: (counts['policies'] ?? 0) - 1, deployments: (counts['deployments'] ?? 0) - 1 }),
  );
  const seconds = round((performance.now() - thawed) / 1_000, 1);
  return { apiServerSeconds, seconds, silentMs, cpuSeconds: round((readCpuMs(product.pid) - cpu) / 1_000, 1), rss: readRss(product.pid) };
}

async function sendUnwatched({ world, product, redis }: Subject, name: string, count: number): Promise<void> {
  const completed = `${product.prefix}:push:completed`;
  const before = await redis.zcard(completed);
  const headers = { 'content-type': 'application/json', authorization: secret };
  await each(
    Array.from({ length: count }, (_, index) => index),
    async (index) => {
      const body = harborBody(world.registry.host, 'nobody/knows', [{ tag: `${name}-${product.pid}-${index}` }]);
      const answer = await resend(() => fetch(`${product.publicUrl}/webhooks/harbor`, { method: 'POST', headers, body }));
      if (answer.status !== 202) throw new Error(`${answer.status}: ${await answer.text()}`);
      await answer.arrayBuffer();
    },
  );
  while ((await redis.zcard(completed)) < before + count) await delay(5);
}

function perPush({ commands, roundTrips }: RedisTraffic, pushes: number) {
  const regular = Object.entries(commands).filter(([, count]) => count >= pushes / 10);
  return {
    commands: Object.fromEntries(regular.map(([name, count]) => [name, round(count / pushes)])),
    roundTrips: round(roundTrips / pushes),
  };
}
