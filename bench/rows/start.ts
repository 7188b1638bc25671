import { waitFor } from '../../test/harness/wait-for.ts';
import { startFloor } from '../floor/start-floor.ts';
import { alternate } from '../world/alternate.ts';
import { countKubeRequests, difference, readMetric } from '../world/counters.ts';
import { fillCluster } from '../world/fill-cluster.ts';
import { median } from '../world/statistics.ts';
import type { BenchWorld, Product, ProductOptions } from '../world/world.ts';
import { compared, limited, type Row } from './row.ts';

/** From the start of the process until everything is listed. */
export const start: Row = {
  id: 'start',
  title:
    'The service and the floor are started in an empty cluster, in turns, until they answer that they are ready. Then a worker is started three times in a cluster with 10,000 Deployments, 10,000 policies and 2,000 repositories: until all of it is known and jobs are taken.',
  async run(world, quick) {
    const small = await alternate(
      { rounds: quick ? 1 : 7, warmUp: quick ? 0 : 1 },
      () => timeStart(() => startFloor(world)),
      () => timeStart(() => world.startProduct()),
    );
    const of = (side: 'floor' | 'product') => median(small.map((times) => times[side])) / 1_000;
    const { product, startMs } = await startInBigCluster(world, quick);
    const times = [startMs];
    const before = await countKubeRequests(world.cluster);
    for (let again = 0; again < (quick ? 0 : 2); again++) {
      const start = performance.now();
      await product.restart();
      await waitForCaches(product, sizeOf(quick));
      times.push(performance.now() - start);
    }
    const requests = difference(before, await countKubeRequests(world.cluster));
    return {
      figures: [
        compared({ name: 'start to ready, empty cluster', floor: of('floor'), product: of('product'), unit: 's' }, { atMost: 4 }),
        limited({ name: 'start to ready, 10,000 policies', product: median(times) / 1_000, unit: 's' }, { below: 10 }),
      ],
      raw: { small, times, requests },
    };
  },
};

/** Milliseconds until what is started is ready; it is stopped again. */
async function timeStart(begin: () => Promise<{ stop(): Promise<void> }>): Promise<number> {
  const start = performance.now();
  const started = await begin();
  const milliseconds = performance.now() - start;
  await started.stop();
  return milliseconds;
}

/** A worker, started where there is a lot. */
export async function startInBigCluster(
  world: BenchWorld,
  quick: boolean,
  options: ProductOptions = { roles: 'work' },
): Promise<{ product: Product; startMs: number; namespace: string }> {
  const namespace = await world.cluster.namespace('bulk');
  await fillCluster(world, namespace, 0, sizeOf(quick));
  const begin = performance.now();
  const product = await startBesidePolicies(world, sizeOf(quick), options);
  return { product, startMs: performance.now() - begin, namespace };
}

/** A process in a cluster that has been filled, once it knows so many policies and Deployments. */
export async function startBesidePolicies(world: BenchWorld, count: number, options: ProductOptions = {}): Promise<Product> {
  const product = await world.startProduct(options);
  await waitForCaches(product, count);
  return product;
}

async function waitForCaches(product: Product, size: number): Promise<void> {
  const names = ['image_watcher_policies', 'image_watcher_workloads'];
  await waitFor(
    'the caches to be complete',
    async () => {
      const counts = await Promise.all(names.map((name) => readMetric(product, name)));
      return counts.every((count) => count >= size);
    },
    { timeoutMs: 120_000, intervalMs: 25 },
  );
}

export function sizeOf(quick: boolean): number {
  return quick ? 20 : 10_000;
}
