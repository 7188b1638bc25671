import { alternate } from '../world/alternate.ts';
import { startSide } from '../world/sides.ts';
import { midMean, percentile } from '../world/statistics.ts';
import type { BenchWorld, Product } from '../world/world.ts';
import { pushAll } from './burst.ts';
import { inTurns } from './latency.ts';
import { compared, type Figure, type Row } from './row.ts';

/** How the roles are spread over processes. */
const setUps = [
  { name: 'one process with both roles', receivers: 0, workers: 1 },
  { name: 'a receiver and a worker', receivers: 1, workers: 1 },
  { name: 'three receivers and three workers', receivers: 3, workers: 3 },
] as const;

/** Receivers and workers as processes of their own. */
export const replicas: Row = {
  id: 'replicas',
  title:
    'A push every 150 ms, and the burst of 200, with both roles in one process (`mode: together`), with a receiver and a worker (`mode: separate`), and with three of each, to which pushes are sent in turns; each beside the floor. All processes and servers share two cores.',
  async run(world, quick) {
    const figures: Figure[] = [];
    const raw: Record<string, unknown> = {};
    for (const setUp of quick ? setUps.slice(2) : setUps) {
      const { workers, receivers } = await startRoles(world, setUp);
      const measured = await measure(world, { workers, receivers, quick });
      for (const one of [...receivers, ...workers]) await one.stop();
      figures.push(...figuresOf(setUp.name, measured, setUp.workers === 1 ? goals : undefined));
      raw[setUp.name] = measured;
    }
    return { figures, raw };
  },
};

interface Processes {
  /** Empty if the workers receive, too. */
  readonly receivers: readonly Product[];
  readonly workers: readonly Product[];
}

/** Starts the processes, all with the same part of Redis. */
async function startRoles(
  world: BenchWorld,
  { receivers, workers }: { readonly receivers: number; readonly workers: number },
): Promise<Processes> {
  const first = await world.startProduct({ roles: receivers === 0 ? 'receive,work' : 'work' });
  const start = (roles: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => world.startProduct({ roles, prefix: first.prefix })));
  return { workers: [first, ...(await start('work', workers - 1))], receivers: await start('receive', receivers) };
}

interface Measured {
  /** Times of pushes in ms. */
  readonly floorMs: readonly number[];
  readonly productMs: readonly number[];
  /** Changed images per second, in each burst. */
  readonly bursts: readonly { readonly floor: number; readonly product: number }[];
}

async function measure(world: BenchWorld, { workers, receivers, quick }: Processes & { readonly quick: boolean }): Promise<Measured> {
  const [worker] = workers;
  const sender = receivers.length === 0 ? {} : { receivers };
  const [few, many] = quick ? [2, 6] : [10, 200];
  const paced = [await startSide(world, 'floor', { count: few }), await startSide(world, 'product', { count: few, ...sender }, worker)];
  const pace = quick ? { rounds: 1, everyMs: 10, warmUp: 0 } : { rounds: 20, everyMs: 150, warmUp: 2 };
  const [floorMs = [], productMs = []] = await inTurns(paced, pace);
  const floor = await startSide(world, 'floor', { count: many });
  const product = await startSide(world, 'product', { count: many, ...sender }, worker);
  const perSecond = async (side: typeof floor) => {
    await side.prepare();
    if (!quick) await product.untilQuiet();
    return (many / (await pushAll(side)).patchedMs) * 1_000;
  };
  const bursts = await alternate(
    quick ? { rounds: 1, warmUp: 0 } : { rounds: 6, warmUp: 1 },
    () => perSecond(floor),
    () => perSecond(product),
  );
  return { floorMs, productMs, bursts };
}

/** What is to be reached where there are no more processes than cores. */
const goals = { p50: { atMost: 1.4 }, p99: { atMost: 1.6 } } as const;

function figuresOf(name: string, { floorMs, productMs, bursts }: Measured, limits?: typeof goals): Figure[] {
  const at = (share: number) => ({ floor: percentile(floorMs, share), product: percentile(productMs, share), unit: 'ms' });
  const of = (side: 'floor' | 'product') => midMean(bursts.map((rates) => rates[side]));
  return [
    compared({ name: `p50 with ${name}`, ...at(0.5) }, limits?.p50),
    compared({ name: `p99 with ${name}`, ...at(0.99) }, limits?.p99),
    compared({ name: `updates in a burst with ${name}`, floor: of('floor'), product: of('product'), unit: '/s' }, undefined),
  ];
}
