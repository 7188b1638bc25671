/** The caches, the pass over all policies, the tick of the poll and the metrics, for any number of policies: the program's own parts in this process, without servers. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { createClusterCache } from '../../src/service/cluster/cluster-cache.ts';
import { watchPolicies } from '../../src/service/cluster/policy-watches.ts';
import { measurePolicies } from '../../src/service/telemetry/measure-policies.ts';
import { createDiscovery } from '../../src/service/kube/discovery.ts';
import { listPages } from '../../src/service/kube/objects.ts';
import { createTick } from '../../src/service/poll/tick.ts';
import { tickMs } from '../../src/service/poll/poll-schedule.ts';
import { createTurns } from '../../src/core/async/turns.ts';
import { createEnqueuer } from '../../src/service/reconcile/enqueue/enqueuer.ts';
import type { ClusterView } from '../../src/service/reconcile/ports.ts';
import { createLogger } from '../../src/service/telemetry/logger.ts';
import { createMetrics } from '../../src/service/telemetry/metrics.ts';
import { createRecentPushes } from '../../src/service/reconcile/recent-pushes.ts';
import { round } from '../world/statistics.ts';
import { createGeneratedCluster } from './generated-cluster.ts';
import { olderVersions } from '../../test/harness/resource-group.ts';

/** How long something took, how much of a core, and the longest time in which nothing else could run. */
interface Cost {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly longestBlockMs: number;
}

const namespaceSize = 200;
const rounds = 5;

/** Measures all of it. */
export async function simulate(count: number): Promise<Readonly<Record<string, unknown>>> {
  const namespaces = Array.from({ length: Math.ceil(count / namespaceSize) }, (_, index) => `team-${index}`);
  const fill = { namespaces, perNamespace: namespaceSize, host: 'harbor.example.com', repositories: Math.ceil(count / 5) };
  const client = createGeneratedCluster(count, { ...fill, pollInterval: '1h' });
  const [generation] = await measure(() => generateAll(client));
  const before = heap();
  const logger = createLogger('silent');
  const onError = (error: unknown) => console.error(error);
  const cache = createClusterCache(
    { client, discovery: createDiscovery(client, []), namespaces: [undefined], onError, now: Date.now, random: Math.random },
    { rules: { cluster: {}, namespaces: [] }, labelsOf: () => ({}) },
  );
  const watches: ReturnType<typeof watchPolicies>[] = [];
  const [start] = await measure(async () => {
    watches.push(
      watchPolicies(undefined, { readContext: { customTargets: [], aliases: new Map(), olderVersions }, logger }, client, cache),
    );
    await watches[0]?.synced;
    await cache.synced();
  });
  const kept = heap() - before;
  const resync = await timeResync(cache);
  const tick = await timeTick(cache);
  const metrics = createMetrics();
  const [scrape] = await measure(async () => measurePolicies(cache.policies.values(), 10_000, metrics));
  const result = {
    policies: cache.policies.size,
    workloads: cache.workloads.size,
    generation,
    start,
    heapMegabytes: round(kept / 1e6, 1),
    bytesPerPair: Math.round(kept / count),
    resync,
    tick,
    scrape,
  };
  await Promise.all([cache.workloads.stop(), ...watches.map(({ reflector }) => reflector.stop())]);
  return result;
}

type Cache = ReturnType<typeof createClusterCache>;

/** The pass that is made once a minute: until the target of each policy has been looked up. */
async function timeResync(cache: Cache): Promise<Cost & { readonly jobs: number }> {
  let jobs = 0;
  let lookups = 0;
  let done = () => {};
  const cluster: ClusterView = {
    findWorkload(ref) {
      if (++lookups === cache.policies.size) done();
      return cache.findWorkload(ref);
    },
    listWorkloads: cache.listWorkloads,
    targetState: cache.targetState,
    namespaceConsent: () => null,
    crossNamespace: 'consent',
    repeatsPerHour: 5,
    aliases: new Map(),
    now: Date.now,
  };
  const enqueuer = createEnqueuer({
    policies: {
      all: () => cache.policies.values(),
      find: cache.findPolicy,
      secretVersions: () => '',
      recentPushes: createRecentPushes(Date.now),
    },
    cluster,
    turns: createTurns(),
    queues: {
      repeatPushes: () => Promise.resolve(),
      addPolicyJobs(added) {
        jobs += added.length;
        return Promise.resolve();
      },
    },
    onError: (error) => console.error(error),
  });
  const cost = await cheapest(async () => {
    lookups = 0;
    const all = new Promise<void>((resolve) => (done = resolve));
    enqueuer.resync();
    await all;
  });
  enqueuer.stop();
  return { ...cost, jobs };
}

/** A tick of the poll, after the first one, which computes the schedules. */
async function timeTick(cache: Cache): Promise<Cost & { readonly first: Cost; readonly polls: number }> {
  let now = Date.parse('2026-11-24T10:00:00Z');
  let last: number | undefined;
  let polls = 0;
  const tick = createTick({
    policies: { all: () => cache.policies.values() },
    registry: { sourceOf: (_policy, { repository }) => repository },
    queues: {
      addPolls(due) {
        polls = due.length;
        return Promise.resolve();
      },
      readLastTick: () => Promise.resolve(last),
      writeLastTick(at) {
        last = at;
        return Promise.resolve();
      },
      readClock: () => Promise.resolve((now += tickMs)),
    },
  });
  const [first] = await measure(tick);
  return { ...(await cheapest(tick)), first, polls };
}

/** The best of some rounds: what else runs on the machine only adds. */
async function cheapest(work: () => Promise<void>): Promise<Cost> {
  const costs: Cost[] = [];
  for (let round = 0; round < rounds; round++) costs.push((await measure(work))[0]);
  return costs.reduce((best, cost) => (cost.cpuSeconds < best.cpuSeconds ? cost : best));
}

async function measure<T>(work: () => Promise<T>): Promise<[Cost, T]> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  // The first delay after the start is not counted.
  await delay(20);
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  // A block is noticed when it is over.
  await delay(5);
  delays.disable();
  return [{ seconds: round(seconds, 3), cpuSeconds: round((user + system) / 1e6, 3), longestBlockMs: round(delays.max / 1e6, 1) }, result];
}

/** All pages, and nothing done with them: what the simulation itself costs. */
async function generateAll(client: ReturnType<typeof createGeneratedCluster>): Promise<void> {
  for (const path of ['/apis/operator.technomad.dev/v1/imagepolicies', '/apis/apps/v1/deployments'])
    for await (const _ of listPages(client, { path, pageSize: 500 })) await nextTurn();
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

if (import.meta.main) console.log(JSON.stringify(await simulate(Number(process.argv[2] ?? 10_000)), undefined, 2));
