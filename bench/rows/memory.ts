import { setTimeout as delay } from 'node:timers/promises';
import { readCpuMs, readRss } from '../world/counters.ts';
import { fillCluster } from '../world/fill-cluster.ts';
import type { Product } from '../world/world.ts';
import { type Figure, limited, type Row } from './row.ts';
import { startBesidePolicies } from './start.ts';

/** How many policies and Deployments there are, and what a worker may then take: memory in MB, and time at rest in percent of a core. */
const sizes: readonly { readonly size: number; readonly rss?: number; readonly idle?: number }[] = [
  { size: 200, rss: 130 },
  { size: 1_000, idle: 0.5 },
  { size: 5_000, rss: 150 },
  { size: 10_000, rss: 170 },
];

/** What a worker needs when there is nothing to do. */
export const memory: Row = {
  id: 'memory',
  title:
    'A worker in a cluster with 200, 1,000, 5,000 and 10,000 Deployments with a policy each (2,000 repositories at most), after its start and then for a minute without a push.',
  async run(world, quick) {
    const namespace = await world.cluster.namespace('bulk');
    const figures: Figure[] = [];
    const raw: Record<string, unknown> = {};
    let filled = 0;
    for (const { size, ...limits } of quick ? [{ size: 20 }] : sizes) {
      await fillCluster(world, namespace, filled, size);
      filled = size;
      const product = await startBesidePolicies(world, size, { roles: 'work' });
      const atRest = await measureRest(product, quick ? 200 : 60_000);
      await product.stop();
      figures.push(...figuresOf(size, atRest, limits));
      raw[size] = atRest;
    }
    return { figures, raw };
  },
};

interface Rest {
  readonly afterStart: number;
  /** Ten readings. */
  readonly rss: readonly number[];
  /** In percent of a core. */
  readonly share: number;
}

/** What a process needs while nothing happens. */
async function measureRest({ pid }: Product, idleMs: number): Promise<Rest> {
  const afterStart = readRss(pid);
  // The first minute is of what started it.
  await delay(idleMs / 4);
  const [start, before] = [performance.now(), readCpuMs(pid)];
  const rss: number[] = [];
  for (let looks = 0; looks < 10; looks++) {
    await delay(idleMs / 10);
    rss.push(readRss(pid));
  }
  return { afterStart, rss, share: ((readCpuMs(pid) - before) / (performance.now() - start)) * 100 };
}

function figuresOf(size: number, { rss, share }: Rest, limits: { readonly rss?: number; readonly idle?: number }): Figure[] {
  const of = size.toLocaleString('en');
  const memory = { name: `RSS with ${of} policies`, product: Math.max(...rss), unit: 'MB' };
  const idle = { name: `idle CPU with ${of} policies`, product: share, unit: '% of a core' };
  return [
    limits.rss === undefined ? memory : limited(memory, { atMost: limits.rss }),
    limits.idle === undefined ? idle : limited(idle, { atMost: limits.idle }),
  ];
}
