import { waitFor } from '../../test/harness/wait-for.ts';
import { countKubeRequests, countRegistryRequests, difference, readMetric } from '../world/counters.ts';
import { monitorRedis } from '../world/redis-monitor.ts';
import { startSide } from '../world/sides.ts';
import { round } from '../world/statistics.ts';
import { limited, type Figure, type Row } from './row.ts';

/** Who is asked how often for one push. */
export const requests: Row = {
  id: 'requests',
  title:
    'Requests for one push to one workload, counted by the API server, by Redis (MONITOR) and by the registry client, over 50 pushes one after the other, after the first change of each policy, which also asks how old its images are.',
  async run(world, quick) {
    const count = quick ? 2 : 10;
    const pushes = (quick ? 1 : 5) * count;
    const product = await world.startProduct();
    const side = await startSide(world, 'product', { count }, product);
    const update = async (rounds: number) => {
      for (let done = 0; done < rounds; done++) {
        await side.prepare();
        for (const application of side.applications) {
          await side.push(application);
          await side.reported(application);
        }
      }
    };
    await update(1);
    await side.untilQuiet();
    const [kubeBefore, registryBefore] = [await countKubeRequests(world.cluster), await countRegistryRequests(product)];
    const redis = await monitorRedis(world.redis.url, () => update(pushes / count));
    await side.untilQuiet();
    const kube = perPush(difference(kubeBefore, await countKubeRequests(world.cluster)), pushes);
    const registry = perPush(difference(registryBefore, await countRegistryRequests(product)), pushes);
    const figures: Figure[] = [
      limited({ name: 'registry requests per push', product: sumOf(registry), unit: '' }, { exactly: 1 }),
      limited({ name: 'patches of the workload per update', product: kube['PATCH deployments'] ?? 0, unit: '' }, { exactly: 1 }),
      limited({ name: 'patches of the status per update', product: kube['PATCH imagepolicies/status'] ?? 0, unit: '' }, { exactly: 1 }),
      { name: 'Kubernetes Events per update (later, in the background)', product: kube['POST events'] ?? 0, unit: '' },
      { name: 'round trips to Redis per push, all connections', product: round(redis.roundTrips / pushes, 1), unit: '' },
    ];
    return { figures: [...figures, ...(await countPoll(world, quick))], raw: { kube, registry, redis: perPush(redis.commands, pushes) } };
  },
};

/** One repository with many policies, polled once. */
async function countPoll(world: Parameters<Row['run']>[0], quick: boolean): Promise<Figure[]> {
  if (quick) return [];
  const product = await world.startProduct();
  await startSide(world, 'product', { count: 50, shared: 'policies', pollInterval: '10s' }, product);
  const polls = () => readMetric(product, 'image_watcher_polls_total');
  const tags = async () => (await countRegistryRequests(product)).get('tags') ?? 0;
  const before = { polls: await polls(), tags: await tags() };
  await waitFor('two polls', async () => (await polls()) >= before.polls + 2, { timeoutMs: 120_000 });
  const [made, asked] = [(await polls()) - before.polls, (await tags()) - before.tags];
  return [
    limited(
      { name: 'registry requests per poll of a repository that 50 policies watch', product: round(asked / made), unit: '' },
      { exactly: 1 },
    ),
  ];
}

function perPush(counts: Readonly<Record<string, number>>, pushes: number): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, round(count / pushes)]));
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
