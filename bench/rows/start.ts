import { waitFor } from '../../test/harness/wait-for.ts';
import { countKubeRequests, difference, readMetric } from '../world/counters.ts';
import { fillCluster } from '../world/fill-cluster.ts';
import { median } from '../world/statistics.ts';
import type { BenchWorld, Product } from '../world/world.ts';
import { limited, type Row } from './row.ts';

/** From the start of the process until everything is listed. */
export const start: Row = {
  id: 'start',
  title:
    'A worker is started three times in a cluster with 10,000 Deployments, 10,000 policies and 2,000 repositories: until all of it is known and jobs are taken.',
  async run(world, quick) {
    const { product, startMs } = await startInBigCluster(world, quick);
    const times = [startMs];
    const before = await countKubeRequests(world.cluster);
    for (let again = 0; again < (quick ? 0 : 2); again++) {
      const start = performance.now();
      await product.restart();
      await waitForCaches(product, quick);
      times.push(performance.now() - start);
    }
    const requests = difference(before, await countKubeRequests(world.cluster));
    return {
      figures: [limited({ name: 'start to ready', product: median(times) / 1_000, unit: 's' }, { below: 10 })],
      raw: { times, requests },
    };
  },
};

/** A worker, started where there is a lot. */
export async function startInBigCluster(
  world: BenchWorld,
  quick: boolean,
  roles = 'work',
): Promise<{ product: Product; startMs: number; namespace: string }> {
  const namespace = await world.cluster.namespace('bulk');
  await fillCluster(world, namespace, 0, sizeOf(quick));
  const begin = performance.now();
  const product = await world.startProduct({ roles });
  await waitForCaches(product, quick);
  return { product, startMs: performance.now() - begin, namespace };
}

async function waitForCaches(product: Product, quick: boolean): Promise<void> {
  const names = ['image_watcher_policies', 'image_watcher_workloads'];
  await waitFor(
    'the caches to be complete',
    async () => {
      const counts = await Promise.all(names.map((name) => readMetric(product, name)));
      return counts.every((count) => count >= sizeOf(quick));
    },
    { timeoutMs: 120_000, intervalMs: 25 },
  );
}

function sizeOf(quick: boolean): number {
  return quick ? 20 : 10_000;
}
