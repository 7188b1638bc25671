import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { createAccount, tokenOf } from '../../test/harness/service-account.ts';
import { longestSilence } from '../hundred-thousand/observe.ts';
import { readCpuMs } from '../world/counters.ts';
import { type OpenedTabs, openPages } from '../world/open-tabs.ts';
import { startSide } from '../world/sides.ts';
import { percentile } from '../world/statistics.ts';
import { type Recorded, recordThreadTimes, type ThreadTimes, threadWait } from '../world/thread-times.ts';
import type { BenchWorld, Product } from '../world/world.ts';
import { sizeOf, startBesidePolicies, startInBigCluster } from './start.ts';
import { inTurns } from './latency.ts';
import { type Figure, limited, type Row } from './row.ts';

const users = 20;
const changesPerSecond = 10;
/** The pages that are open, as often as they are named. */
const open = ['/', '/', '/', '/', '/policies', '/policies', '/policies', '/policies?sort=changed', '/policies?state=Stalled', ''];

/** What pages cost that stay open while policies change. */
export const tabs: Row = {
  id: 'tabs',
  title:
    'A hundred pages of the dashboard, open with twenty users who may see everything, in a cluster with 10,000 policies of which ten change in a second: what the process spends more than for the same changes without a page. Then a push every 150 ms to the same process, in turns with and without the pages: from the POST until a watch shows the changed image. First with everything in one process (`mode: together`), then with the dashboard in a process of its own, as the chart installs it (`mode: separate`). What a push waits for the thread is in processor time: how long the thread that works on pushes is taken without a turn for others, when a push comes at any moment.',
  async run(world, quick) {
    const times = recordThreadTimes();
    const { product, namespace } = await startInBigCluster(world, quick, { roles: 'receive,work,web', threadTimes: times });
    const together = await measurePages(world, { product, web: product, namespace, quick, times });
    await product.stop();
    const workerTimes = recordThreadTimes();
    const worker = await startBesidePolicies(world, sizeOf(quick), { prefix: product.prefix, threadTimes: workerTimes });
    const web = await world.startProduct({ roles: 'web', dashboardApi: worker.operationsUrl });
    const separate = await measurePages(world, { product: worker, web, namespace, quick, times: workerTimes });
    const { alone, beside } = together;
    return {
      figures: [
        ...limitsOf(together, ['CPU for the pages', 'a push is later than without pages by', 'a push waits longer for the thread by']),
        { name: 'CPU for one reading', product: together.cpuMs / Math.max(1, together.reads), unit: 'ms' },
        { name: 'longest time without an answer', product: together.withTabs.silence, floor: together.without.silence, unit: 'ms' },
        { name: 'a page is read again every', product: together.readEverySeconds, unit: 's' },
        { name: 'p50 of a push', floor: percentile(alone.times, 0.5), product: percentile(beside.times, 0.5), unit: 'ms' },
        { name: 'p99 of a push', floor: percentile(alone.times, 0.99), product: percentile(beside.times, 0.99), unit: 'ms' },
        {
          name: 'p99 of what a push waits for the thread',
          floor: threadWait(alone.thread, 0.99),
          product: threadWait(beside.thread, 0.99),
          unit: 'ms',
        },
        ...limitsOf(separate, [
          'dashboard in its own process: CPU of the worker',
          'dashboard in its own process: a push is later by',
          'dashboard in its own process: a push waits longer for the thread by',
        ]),
      ],
      raw: { together, separate },
    };
  },
};

interface Pages {
  readonly without: Spent;
  readonly withTabs: Spent;
  /** What the pages cost in ms of a core, for so many readings. */
  readonly cpuMs: number;
  readonly reads: number;
  readonly readEverySeconds: number;
  readonly alone: Pushes;
  readonly beside: Pushes;
}

/** Pushes without or with the pages. */
interface Pushes {
  /** From a push to the changed image, in ms. */
  readonly times: number[];
  /** For how long the thread of the process that takes them was taken at a time. */
  readonly thread: Recorded[];
}

/** What open pages may cost at most: processor time of the process that takes pushes, time of a push, and time for which a push finds the thread taken. */
function limitsOf(
  { without, withTabs, alone, beside }: Pages,
  [cpu, isLater, waits]: readonly [cpu: string, isLater: string, waits: string],
): Figure[] {
  const later = (share: number) => percentile(beside.times, share) - percentile(alone.times, share);
  const waitsLonger = (share: number) => threadWait(beside.thread, share) - threadWait(alone.thread, share);
  return [
    limited({ name: cpu, product: withTabs.share - without.share, unit: '% of a core' }, { below: 5 }),
    limited({ name: `${isLater} (p50)`, product: later(0.5), unit: 'ms' }, { atMost: 5 }),
    limited({ name: `${isLater} (p99)`, product: later(0.99), unit: 'ms' }, { atMost: 5 }),
    limited({ name: `${waits} (p99, processor time)`, product: waitsLonger(0.99), unit: 'ms' }, { atMost: 5 }),
    limited({ name: `${waits} (p99.9, processor time)`, product: waitsLonger(0.999), unit: 'ms' }, { atMost: 5 }),
  ];
}

/** What is measured. */
interface Measured {
  readonly product: Product;
  readonly web: Product;
  readonly namespace: string;
  readonly quick: boolean;
  /** Of `product`. */
  readonly times: ThreadTimes;
}

/** Measures the process that takes pushes, `product`, without and with the pages of `web`. */
async function measurePages(world: BenchWorld, { product, web, namespace, quick, times }: Measured): Promise<Pages> {
  const change = (endAt: number) => changePolicies(world, { namespace, endAt, count: quick ? 20 : 10_000 });
  const [count, ms] = quick ? [4, 2_000] : [100, 60_000];
  const sessions = await signIn(world, web, quick ? 2 : users);
  const without = await measure(product, ms, change);
  const opened = await openTabs(web, { count, sessions, namespace, settleMs: quick ? 500 : 15_000 });
  const before = await opened.reads();
  const withTabs = await measure(product, ms, change);
  const reads = (await opened.reads()) - before;
  await opened.stop();
  const open = () => openTabs(web, { count, sessions, namespace, settleMs: quick ? 100 : 10_000 });
  const [alone, beside] = await pushInTurns(world, { product, quick, times, change, open });
  const cpuMs = ((withTabs.share - without.share) * ms) / 100;
  return { without, withTabs, cpuMs, reads, readEverySeconds: (count * ms) / 1_000 / Math.max(1, reads), alone, beside };
}

/** Opens the pages, and waits until each has read itself once, as it does when it is connected. */
async function openTabs(
  { operationsUrl: url }: Product,
  of: { readonly count: number; readonly sessions: readonly string[]; readonly namespace: string; readonly settleMs: number },
): Promise<OpenedTabs> {
  const { count, sessions, namespace, settleMs } = of;
  const pages = Array.from({ length: count }, (_, index) => {
    const [cookie = '', page = ''] = [sessions[index % sessions.length], open[index % open.length]];
    return { url, page: page === '' ? `/policies/${namespace}/bulk-${index}` : page, cookie };
  });
  const opened = await openPages(pages);
  await delay(settleMs);
  return opened;
}

/** Pushes without and with the pages, while policies change; times from a push to the changed image. */
async function pushInTurns(
  world: BenchWorld,
  {
    product,
    quick,
    times,
    change,
    open,
  }: Pick<Measured, 'product' | 'quick' | 'times'> & {
    readonly change: (endAt: number) => Promise<number>;
    readonly open: () => Promise<OpenedTabs>;
  },
): Promise<[alone: Pushes, beside: Pushes]> {
  const side = await startSide(world, 'product', { count: quick ? 2 : 10 }, product);
  const pace = { rounds: quick ? 1 : 30, everyMs: 150, warmUp: quick ? 0 : 1 };
  const push = async (into: Pushes): Promise<void> => {
    const begin = Date.now();
    const over = new AbortController();
    const changing = (async () => {
      while (!over.signal.aborted) await change(performance.now() + 500);
    })();
    const [measured = []] = await inTurns([side], pace).finally(() => over.abort());
    await changing;
    into.times.push(...measured);
    into.thread.push(...times.between(begin, Date.now()));
  };
  const [alone, beside]: [Pushes, Pushes] = [
    { times: [], thread: [] },
    { times: [], thread: [] },
  ];
  for (let turn = 0; turn < (quick ? 1 : 4); turn++) {
    await push(alone);
    const opened = await open();
    await push(beside);
    await opened.stop();
  }
  return [alone, beside];
}

/** Sessions of users who may see everything. */
async function signIn(world: BenchWorld, product: Product, count: number): Promise<string[]> {
  const apiGroups = ['operator.technomad.dev'];
  const rules = [
    { apiGroups, resources: ['*'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['namespaces'], verbs: ['list'] },
  ];
  const sessions: string[] = [];
  for (let index = 0; index < count; index++) {
    const account = { name: `user-${product.pid}-${index}`, namespace: 'default' };
    await createAccount(world.cluster, account, [{ rules }]);
    const answer = await request(`${product.operationsUrl}/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ token: await tokenOf(world.cluster, account) }).toString(),
    });
    await answer.body.dump();
    const cookies = [answer.headers['set-cookie'] ?? []].flat().map((cookie) => cookie.split(';')[0] ?? '');
    if (cookies.length === 0) throw new Error(`POST /sign-in: ${answer.statusCode}`);
    sessions.push(cookies.join('; '));
  }
  return sessions;
}

/** What a process spends. */
interface Spent {
  /** In percent of a core. */
  readonly share: number;
  /** The longest time in which it answered nothing, in ms. */
  readonly silence: number;
  readonly changes: number;
}

/** What the process spends while policies change. */
async function measure(product: Product, ms: number, change: (endAt: number) => Promise<number>): Promise<Spent> {
  const [start, before] = [performance.now(), readCpuMs(product.pid)];
  const [changes, silence] = await longestSilence(product, () => change(start + ms));
  return { share: ((readCpuMs(product.pid) - before) / (performance.now() - start)) * 100, silence, changes };
}

let turn = 0;

/** Changes the states of policies until the time has come; returns how many. */
async function changePolicies(
  world: BenchWorld,
  { namespace, endAt, count }: { readonly namespace: string; readonly endAt: number; readonly count: number },
): Promise<number> {
  let changes = 0;
  while (performance.now() < endAt) {
    const begin = performance.now();
    const name = `bulk-${(turn * 37) % count}`;
    const reason = turn++ % 3 === 0 ? 'RegistryUnavailable' : 'UpToDate';
    const type = reason === 'UpToDate' ? 'Ready' : 'Stalled';
    const condition = { type, status: 'True', reason, message: `change ${turn}`, lastTransitionTime: new Date().toISOString() };
    await world.cluster.request('PATCH', `/apis/operator.technomad.dev/v1/namespaces/${namespace}/imagepolicies/${name}/status`, {
      status: { conditions: [condition] },
    });
    changes++;
    await delay(Math.max(0, 1_000 / changesPerSecond - (performance.now() - begin)));
  }
  return changes;
}
