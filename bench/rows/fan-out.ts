import { alternate } from '../world/alternate.ts';
import { midMean } from '../world/statistics.ts';
import { startSide, type Side } from '../world/sides.ts';
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
      const measure = async (side: Side) => {
        await side.prepare();
        if (!quick) await product.untilQuiet();
        return side.pushForAll();
      };
      const rounds = await alternate(
        quick ? { rounds: 1, warmUp: 0 } : { rounds: 12, warmUp: 2 },
        () => measure(floor),
        () => measure(product),
      );
      raw[shared] = rounds;
      const of = (side: 'floor' | 'product') => midMean(rounds.map((times) => times[side]));
      const name = shared === 'policies' ? `${count} policies` : 'one policy with a selector';
      figures.push(
        compared({ name, floor: of('floor'), product: of('product'), unit: 'ms' }, { atMost: shared === 'policies' ? 1.5 : 1.3 }),
      );
    }
    return { figures, raw };
  },
};
