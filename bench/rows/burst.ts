import { readRss } from '../world/counters.ts';
import { countCpu } from '../world/cpu.ts';
import { median } from '../world/statistics.ts';
import { startSide, type Side } from '../world/sides.ts';
import { policiesIn } from '../world/applications.ts';
import type { BenchWorld } from '../world/world.ts';
import { compared, type Row } from './row.ts';

/** Many pushes at once. */
export const burst: Row = {
  id: 'burst',
  title: '200 pushes at the same moment to 200 workloads, until all images are seen changed and (product) all statuses are written.',
  async run(world, quick) {
    const count = quick ? 8 : 200;
    const floor = await startSide(world, 'floor', { count });
    const telling = await measureTelling(world, floor, { count, rounds: quick ? 1 : 6 });
    const service = await world.startProduct();
    const product = await startSide(world, 'product', { count }, service);
    const rates: { floor: number; product: number; patchedMs: number }[] = [];
    const cpuMsPerUpdate: Record<string, Readonly<Record<string, number>>> = {};
    const warmUp = quick ? 0 : 1;
    for (let round = 0; round < (quick ? 1 : 8) + warmUp; round++) {
      for (const side of [floor, product]) await side.prepare();
      if (!quick) await product.untilQuiet();
      const [slow, floorCpu] = await countCpu(() => pushAll(floor, false));
      const [fast, productCpu] = await countCpu(() => pushAll(product, false));
      const perUpdate = (cpu: Readonly<Record<string, number>>) =>
        Object.fromEntries(Object.entries(cpu).map(([name, ms]) => [name, ms / count]));
      Object.assign(cpuMsPerUpdate, { floor: perUpdate(floorCpu), product: perUpdate(productCpu) });
      const perSecond = (milliseconds: number) => (count / milliseconds) * 1_000;
      if (round >= warmUp) rates.push({ floor: perSecond(slow.patchedMs), product: perSecond(fast.reportedMs), patchedMs: fast.patchedMs });
    }
    const ratio = median(rates.map(({ floor, product }) => product / floor));
    return {
      figures: [
        compared(
          {
            name: 'updates',
            floor: median(rates.map(({ floor }) => floor)),
            product: median(rates.map(({ product }) => product)),
            ratio,
            unit: '/s',
          },
          { atLeast: 0.8 },
        ),
        { name: 'the floor with the smallest status', product: telling.telling, floor: telling.floor, ratio: telling.ratio, unit: '/s' },
        { name: 'memory of the product afterwards (RSS)', product: readRss(service.pid), unit: 'MB' },
      ],
      raw: { rounds: rates, floorWithStatus: telling.rounds, cpuMsPerUpdateOfTheLastRound: cpuMsPerUpdate },
    };
  },
};

/** The most that anything could reach that writes a status: the floor itself with one. Before the product is there, which would look at its policies. */
async function measureTelling(world: BenchWorld, floor: Side, { count, rounds }: { readonly count: number; readonly rounds: number }) {
  const telling = await startSide(world, 'floor', { count, tells: true });
  const rates: { floor: number; telling: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const side of [floor, telling]) await side.prepare();
    const perSecond = (milliseconds: number) => (count / milliseconds) * 1_000;
    const { patchedMs } = await pushAll(floor, false);
    const { reportedMs } = await pushAll(telling, false);
    rates.push({ floor: perSecond(patchedMs), telling: perSecond(reportedMs) });
  }
  // Nobody pushes to it any more, and its policies are none of the product's.
  await world.cluster.request('DELETE', policiesIn(telling.namespace));
  return {
    floor: median(rates.map((rate) => rate.floor)),
    telling: median(rates.map((rate) => rate.telling)),
    ratio: median(rates.map((rate) => rate.telling / rate.floor)),
    rounds: rates,
  };
}

export async function pushAll(side: Side, prepares = true): Promise<{ patchedMs: number; reportedMs: number }> {
  if (prepares) await side.prepare();
  const start = performance.now();
  const reported = side.tells ? side.applications.map((one) => side.reported(one)) : [];
  const times = await Promise.all(side.applications.map((one) => side.push(one)));
  const patchedMs = Math.max(...times);
  const last = Math.max(start + patchedMs, ...(await Promise.all(reported)));
  return { patchedMs, reportedMs: last - start };
}
