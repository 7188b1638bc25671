import { median } from '../world/statistics.ts';
import { startSide } from '../world/sides.ts';
import { compared, type Figure, type Row } from './row.ts';

/** One push for many workloads. */
export const fanOut: Row = {
  id: 'fan-out',
  title: 'One push that 200 workloads run the image of, until all are patched: meant by 200 policies, and by one policy with a selector.',
  async run(world, quick) {
    const count = quick ? 6 : 200;
    const floor = await startSide(world, 'floor', { count, shared: 'policies' });
    const figures: Figure[] = [];
    const raw: Record<string, unknown> = {};
    for (const shared of ['policies', 'selector'] as const) {
      const product = await startSide(world, 'product', { count, shared });
      const rounds: { floor: number; product: number }[] = [];
      const warmUp = quick ? 0 : 1;
      for (let round = 0; round < (quick ? 1 : 8) + warmUp; round++) {
        for (const side of [floor, product]) await side.prepare();
        if (!quick) await product.untilQuiet();
        const times = { floor: await floor.pushForAll(), product: await product.pushForAll() };
        if (round >= warmUp) rounds.push(times);
      }
      raw[shared] = rounds;
      const of = (side: 'floor' | 'product') => median(rounds.map((times) => times[side]));
      const ratio = median(rounds.map((times) => times.product / times.floor));
      const name = shared === 'policies' ? `${count} policies` : 'one policy with a selector';
      figures.push(compared({ name, floor: of('floor'), product: of('product'), ratio, unit: 'ms' }, { atMost: 1.5 }));
    }
    return { figures, raw };
  },
};
