import { setTimeout as delay } from 'node:timers/promises';
import { median, percentile } from '../world/statistics.ts';
import { startSide, type Side } from '../world/sides.ts';
import { compared, type Row } from './row.ts';

/** POST → changed image seen on a watch. */
export const latency: Row = {
  id: 'latency',
  title: 'One push every 150 ms, floor and product in turns of ten: from the POST until a watch shows the changed image.',
  async run(world, quick) {
    const count = 10;
    const sides = [await startSide(world, 'floor', { count }), await startSide(world, 'product', { count })];
    const samples = await inTurns(sides, quick ? { rounds: 1, everyMs: 10, warmUp: 0 } : { rounds: 40, everyMs: 150, warmUp: 3 });
    const [floor = [], product = []] = samples;
    const at = (share: number) => ({ floor: percentile(floor, share), product: percentile(product, share), unit: 'ms' });
    const answers = sides.map((side) => median(side.answers));
    return {
      figures: [
        compared({ name: 'p50', ...at(0.5) }, { atMost: 1.5 }),
        compared({ name: 'p99', ...at(0.99) }, { atMost: 2 }),
        compared(
          { name: 'p50 of the webhook being answered', floor: answers[0] ?? NaN, product: answers[1] ?? NaN, unit: 'ms' },
          undefined,
        ),
      ],
      raw: { floorMs: floor, productMs: product },
    };
  },
};

/** Each application once in a round, the sides one after the other; the first rounds are not counted. Times by side. */
export async function inTurns(
  sides: readonly Side[],
  { rounds, everyMs, warmUp }: { readonly rounds: number; readonly everyMs: number; readonly warmUp: number },
): Promise<number[][]> {
  const times = sides.map((): number[] => []);
  for (let done = 0; done < warmUp + rounds; done++) {
    if (done === warmUp) for (const { answers } of sides) answers.length = 0;
    for (const [index, side] of sides.entries()) {
      await side.prepare();
      for (const application of side.applications) {
        const [time] = await Promise.all([side.push(application), delay(everyMs)]);
        if (done >= warmUp) times[index]?.push(time);
      }
    }
  }
  return times;
}
