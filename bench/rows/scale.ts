import { waitFor } from '../../test/harness/wait-for.ts';
import { readMetric } from '../world/counters.ts';
import { fillCluster } from '../world/fill-cluster.ts';
import { startSide } from '../world/sides.ts';
import { median, percentile } from '../world/statistics.ts';
import { inTurns } from './latency.ts';
import { compared, type Figure, type Row } from './row.ts';

/** The same latencies in a growing cluster. */
export const scale: Row = {
  id: 'scale',
  title:
    'The latencies again, with 0, 100, 1,000 and 10,000 other Deployments with a policy each (2,000 repositories at most) in the cluster.',
  async run(world, quick) {
    const count = quick ? 2 : 10;
    const service = await world.startProduct();
    const sides = [await startSide(world, 'floor', { count }), await startSide(world, 'product', { count }, service)];
    const bulk = await world.cluster.namespace('bulk');
    const pace = quick ? { rounds: 1, everyMs: 10, warmUp: 0 } : { rounds: 20, everyMs: 150, warmUp: 2 };
    const figures: Figure[] = [];
    const raw: Record<string, unknown> = {};
    const ratios: number[] = [];
    let size = 0;
    for (const next of quick ? [0, 20] : [0, 100, 1_000, 10_000]) {
      await fillCluster(world, bulk, size, next);
      size = next;
      await waitFor('the product to know them', async () => (await readMetric(service, 'image_watcher_workloads')) >= next, {
        timeoutMs: 120_000,
      });
      const [floor = [], product = []] = await inTurns(sides, pace);
      const name = next.toLocaleString('en');
      for (const [title, share] of [
        ['p50', 0.5],
        ['p99', 0.99],
      ] as const)
        figures.push(
          compared(
            { name: `${title} with ${name} others`, floor: percentile(floor, share), product: percentile(product, share), unit: 'ms' },
            undefined,
          ),
        );
      ratios.push(median(product) / median(floor));
      raw[name] = { floorMs: floor, productMs: product };
    }
    const growth = (ratios.at(-1) ?? NaN) / (ratios[0] ?? NaN);
    figures.push({
      name: 'p50 (as a multiple of the floor) with most others, against none',
      product: growth,
      unit: '×',
      target: '≤ 1.1',
      reached: growth <= 1.1,
    });
    return { figures, raw };
  },
};
