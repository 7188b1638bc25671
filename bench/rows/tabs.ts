import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { createAccount, tokenOf } from '../../test/harness/service-account.ts';
import { longestSilence } from '../hundred-thousand/observe.ts';
import { readCpuMs } from '../world/counters.ts';
import { type OpenTab, openTab } from '../world/tab.ts';
import type { BenchWorld, Product } from '../world/world.ts';
import { startInBigCluster } from './start.ts';
import { limited, type Row } from './row.ts';

const users = 20;
const changesPerSecond = 10;
/** The pages that are open, as often as they are named. */
const open = ['/', '/', '/', '/', '/policies', '/policies', '/policies', '/policies?sort=changed', '/policies?state=Stalled', ''];

/** What pages cost that stay open while policies change. */
export const tabs: Row = {
  id: 'tabs',
  title:
    'A hundred pages of the dashboard, open with twenty users who may see everything, in a cluster with 10,000 policies of which ten change in a second: what the process spends more than for the same changes without a page.',
  async run(world, quick) {
    const { product, namespace } = await startInBigCluster(world, quick, 'work,web');
    const change = (endAt: number) => changePolicies(world, { namespace, endAt, count: quick ? 20 : 10_000 });
    const count = quick ? 4 : 100;
    const ms = quick ? 2_000 : 60_000;
    const sessions = await signIn(world, product, quick ? 2 : users);
    const without = await measure(product, ms, change);
    const opened: OpenTab[] = [];
    for (let index = 0; index < count; index++) {
      const [cookie = '', page = ''] = [sessions[index % sessions.length], open[index % open.length]];
      opened.push(openTab(product.operationsUrl, page === '' ? `/policies/${namespace}/bulk-${index}` : page, cookie));
    }
    await Promise.all(opened.map(({ connected }) => connected));
    // The pages read themselves once when they are connected.
    await delay(quick ? 500 : 15_000);
    const read = () => opened.reduce((sum, { reads }) => sum + reads(), 0);
    const before = read();
    const withTabs = await measure(product, ms, change);
    const reads = read() - before;
    const failures = opened.flatMap(({ failures }) => failures());
    await Promise.all(opened.map((tab) => tab.stop()));
    if (failures.length > 0) throw new Error(`pages were not read: ${failures.slice(0, 3).join(', ')}`);
    return {
      figures: [
        limited({ name: 'CPU for the pages', product: withTabs.share - without.share, unit: '% of a core' }, { below: 5 }),
        { name: 'CPU for one reading', product: ((withTabs.share - without.share) * ms) / 100 / Math.max(1, reads), unit: 'ms' },
        { name: 'longest time without an answer', product: withTabs.silence, floor: without.silence, unit: 'ms' },
        { name: 'a page is read again every', product: (count * ms) / 1_000 / Math.max(1, reads), unit: 's' },
      ],
      raw: { without, withTabs, reads },
    };
  },
};

/** Sessions of users who may see everything. */
async function signIn(world: BenchWorld, product: Product, count: number): Promise<string[]> {
  const apiGroups = ['operator.technomad.dev'];
  const rules = [
    { apiGroups, resources: ['*'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['namespaces'], verbs: ['list'] },
  ];
  const sessions: string[] = [];
  for (let index = 0; index < count; index++) {
    const account = { name: `user-${index}`, namespace: 'default' };
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

/** What the process spends while policies change, and the longest time in which it answered nothing. */
async function measure(
  product: Product,
  ms: number,
  change: (endAt: number) => Promise<number>,
): Promise<{ readonly share: number; readonly silence: number; readonly changes: number }> {
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
