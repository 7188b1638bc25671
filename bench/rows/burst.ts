import { readRss } from '../world/counters.ts';
import { countCpu } from '../world/cpu.ts';
import { alternate } from '../world/alternate.ts';
import { midMean, round } from '../world/statistics.ts';
import { startSide, type Side } from '../world/sides.ts';
import { policiesIn } from '../world/applications.ts';
import type { BenchWorld } from '../world/world.ts';
import { compared, type Row } from './row.ts';

/** Many pushes at once. */
export const burst: Row = {
  id: 'burst',
  title:
    '200 pushes at the same moment to 200 workloads, until all images are seen changed, and until (product) all statuses are written too.',
  async run(world, quick) {
    const count = quick ? 8 : 200;
    const floor = await startSide(world, 'floor', { count });
    const telling = await measureTelling(world, floor, { count, quick });
    const service = await world.startProduct();
    const product = await startSide(world, 'product', { count }, service);
    const measure = async (side: Side) => {
      await side.prepare();
      if (!quick) await product.untilQuiet();
      const [{ patchedMs, reportedMs }, cpu] = await countCpu(() => pushAll(side));
      const cpuMsPerUpdate = Object.fromEntries(Object.entries(cpu).map(([name, ms]) => [name, round(ms / count)]));
      const perSecond = (milliseconds: number) => (count / milliseconds) * 1_000;
      return { updates: perSecond(reportedMs), images: perSecond(patchedMs), cpuMsPerUpdate };
    };
    const rounds = await alternate(
      quick ? { rounds: 1, warmUp: 0 } : { rounds: 10, warmUp: 2 },
      () => measure(floor),
      () => measure(product),
    );
    const figure = (what: 'updates' | 'images') => ({
      floor: midMean(rounds.map(({ floor }) => floor[what])),
      product: midMean(rounds.map(({ product }) => product[what])),
      unit: '/s',
    });
    const spent = (program: string) => ({
      floor: midMean(rounds.map(({ floor }) => floor.cpuMsPerUpdate[program] ?? 0)),
      product: midMean(rounds.map(({ product }) => product.cpuMsPerUpdate[program] ?? 0)),
      unit: 'ms',
    });
    return {
      figures: [
        compared({ name: 'updates, as seen on a watch', ...figure('images') }, { atLeast: 0.8 }),
        compared({ name: 'updates, and all statuses written', ...figure('updates') }, undefined),
        compared({ name: 'the floor with the smallest status', product: telling.telling, floor: telling.floor, unit: '/s' }, undefined),
        compared(
          { name: 'all statuses written, against the floor with the smallest', ...againstTelling(figure('updates'), telling) },
          { atLeast: 0.7 },
        ),
        compared({ name: 'processor time of its own process per update', ...spent('node') }, { atMost: 2 }),
        compared({ name: 'processor time of the API server per update', ...spent('kube-apiserver') }, { atMost: 3 }),
        { name: 'memory of the product afterwards (RSS)', product: readRss(service.pid), unit: 'MB' },
      ],
      raw: { rounds, floorWithStatus: telling.rounds },
    };
  },
};

/** The most that anything could reach that writes a status: the floor itself with one. Before the product is there, which would look at its policies. */
async function measureTelling(world: BenchWorld, floor: Side, { count, quick }: { readonly count: number; readonly quick: boolean }) {
  const telling = await startSide(world, 'floor', { count, tells: true });
  const measure = async (side: Side) => {
    await side.prepare();
    return (count / (await pushAll(side)).reportedMs) * 1_000;
  };
  const rounds = await alternate(
    quick ? { rounds: 1, warmUp: 0 } : { rounds: 8, warmUp: 0 },
    () => measure(floor),
    () => measure(telling),
  );
  // Nobody pushes to it any more, and its policies are none of the product's.
  await world.cluster.request('DELETE', policiesIn(telling.namespace));
  const of = (side: 'floor' | 'product') => midMean(rounds.map((rates) => rates[side]));
  return { floor: of('floor'), telling: of('product'), rounds };
}

/** Both were measured against the floor in the same turns: how the machine was at either time does not count. */
function againstTelling(
  rates: { readonly floor: number; readonly product: number },
  telling: { readonly floor: number; readonly telling: number },
) {
  return { floor: telling.telling, product: (rates.product / rates.floor) * telling.floor, unit: '/s' };
}

/** Announces all at the same moment; milliseconds until all images were seen changed, and all statuses written. */
export async function pushAll(side: Side): Promise<{ patchedMs: number; reportedMs: number }> {
  const start = performance.now();
  const reported = side.tells ? side.applications.map((one) => side.reported(one)) : [];
  const times = await Promise.all(side.applications.map((one) => side.push(one)));
  const patchedMs = Math.max(...times);
  const last = Math.max(start + patchedMs, ...(await Promise.all(reported)));
  return { patchedMs, reportedMs: last - start };
}
