import { setTimeout as delay } from 'node:timers/promises';
import { readCpuMs, readRss } from '../world/counters.ts';
import { startInBigCluster } from './start.ts';
import { limited, type Row } from './row.ts';

/** What a worker needs when there is nothing to do. */
export const memory: Row = {
  id: 'memory',
  title:
    'A worker in a cluster with 10,000 Deployments, 10,000 policies and 2,000 repositories, after its start and then for a minute without a push.',
  async run(world, quick) {
    const { product } = await startInBigCluster(world, quick);
    const afterStart = readRss(product.pid);
    const idleMs = quick ? 200 : 60_000;
    // The first minute is of what started it.
    await delay(idleMs / 4);
    const [start, before] = [performance.now(), readCpuMs(product.pid)];
    const rss: number[] = [];
    for (let looks = 0; looks < 10; looks++) {
      await delay(idleMs / 10);
      rss.push(readRss(product.pid));
    }
    const share = ((readCpuMs(product.pid) - before) / (performance.now() - start)) * 100;
    return {
      figures: [
        limited({ name: 'RSS', product: Math.max(...rss), unit: 'MB' }, { below: 200 }),
        limited({ name: 'idle CPU', product: share, unit: '% of a core' }, { below: 1 }),
      ],
      raw: { afterStart, rss },
    };
  },
};
