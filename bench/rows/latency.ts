import { setTimeout as delay } from 'node:timers/promises';
import { median, percentile } from '../world/statistics.ts';
import { startSide, type Side } from '../world/sides.ts';
import type { BenchWorld } from '../world/world.ts';
import { compared, type Row, type RowResult } from './row.ts';

/** POST → changed image seen on a watch. */
export const latency: Row = {
  id: 'latency',
  title: 'One push every 150 ms, floor and product in turns of ten: from the POST until a watch shows the changed image.',
  run: (world, quick) => measure(world, quick ? quickPace : { rounds: 40, everyMs: 150, warmUp: 3 }, { p50: 1.4, p99: 1.6, cpu: 2.5 }),
};

/** The same without a pause. */
export const backToBack: Row = {
  id: 'back-to-back',
  title:
    'The same with each push as soon as the image of the last one was seen changed: what is left to do of the last push is in the way of the next.',
  run: (world, quick) => measure(world, quick ? quickPace : { rounds: 60, everyMs: 0, warmUp: 5, pauseMs: 1_500 }, { p50: 1.6 }),
};

const quickPace: Pace = { rounds: 1, everyMs: 10, warmUp: 0 };

interface Pace {
  readonly rounds: number;
  readonly everyMs: number;
  /** Rounds that are not counted. */
  readonly warmUp: number;
  /** After the turn of a side: what it writes later must not be in the way of the other one. */
  readonly pauseMs?: number;
}

async function measure(
  world: BenchWorld,
  pace: Pace,
  limits: { readonly p50: number; readonly p99?: number; readonly cpu?: number },
): Promise<RowResult> {
  const count = 10;
  const sides = [await startSide(world, 'floor', { count }), await startSide(world, 'product', { count })];
  const spent = sides.map((): number[] => []);
  const [floor = [], product = []] = await inTurns(sides, pace, (index, cpuMs) => spent[index]?.push(cpuMs / count));
  const [floorCpu = [], productCpu = []] = spent;
  const at = (share: number) => ({ floor: percentile(floor, share), product: percentile(product, share), unit: 'ms' });
  const answers = sides.map((side) => median(side.answers));
  const cpu = { name: 'processor time of its own process per update', floor: median(floorCpu), product: median(productCpu), unit: 'ms' };
  return {
    figures: [
      compared({ name: 'p50', ...at(0.5) }, { atMost: limits.p50 }),
      compared({ name: 'p99', ...at(0.99) }, limits.p99 === undefined ? undefined : { atMost: limits.p99 }),
      compared({ name: 'p50 of the webhook being answered', floor: answers[0] ?? NaN, product: answers[1] ?? NaN, unit: 'ms' }, undefined),
      compared(cpu, limits.cpu === undefined ? undefined : { atMost: limits.cpu }),
    ],
    raw: { floorMs: floor, productMs: product, floorCpuMs: floorCpu, productCpuMs: productCpu },
  };
}

/** Each application once in a round, the sides one after the other; the first rounds are not counted. Times by side. `onTurn`: the processor time of each turn. */
export async function inTurns(
  sides: readonly Side[],
  { rounds, everyMs, warmUp, pauseMs }: Pace,
  onTurn?: (side: number, cpuMs: number) => void,
): Promise<number[][]> {
  const times = sides.map((): number[] => []);
  for (let done = 0; done < warmUp + rounds; done++) {
    if (done === warmUp) for (const { answers } of sides) answers.length = 0;
    for (const [index, side] of sides.entries()) {
      await side.prepare();
      const before = side.cpuMs();
      for (const application of side.applications) {
        const [time] = await Promise.all([side.push(application), delay(everyMs)]);
        if (done >= warmUp) times[index]?.push(time);
      }
      if (pauseMs !== undefined) await delay(pauseMs);
      if (done >= warmUp) onTurn?.(index, side.cpuMs() - before);
    }
  }
  return times;
}
