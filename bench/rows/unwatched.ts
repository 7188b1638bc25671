import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { harborBody } from '../../test/end-to-end/world.ts';
import { resend } from '../../test/harness/resend.ts';
import { countKubeRequests, countRegistryRequests, difference } from '../world/counters.ts';
import { median } from '../world/statistics.ts';
import { secret } from '../world/world.ts';
import { compared, limited, type Row } from './row.ts';
import { measureWebhooks, startBareWebhook } from './webhooks.ts';

/** What other teams push. */
export const unwatched: Row = {
  id: 'unwatched',
  title: '10,000 pushes that no policy watches wait in the queue when a worker comes: how fast they are worked off, and at what expense.',
  async run(world, quick) {
    const total = quick ? 200 : 10_000;
    const bare = await startBareWebhook(world);
    const floor: number[] = [];
    const runs: { perSecond: number; registry: number; kube: Record<string, number> }[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      floor.push((await measureWebhooks(bare, total)).perSecond);
      const receiver = await world.startProduct({ roles: 'receive' });
      for (let start = 0; start < total; start += 200) {
        const tags = Array.from({ length: 200 }, (_, index) => ({ tag: `1.${round}.${start + index}` }));
        const body = harborBody(world.registry.host, 'nobody/knows', tags);
        const headers = { 'content-type': 'application/json', authorization: secret };
        const answer = await resend(() => fetch(`${receiver.publicUrl}/webhooks/harbor`, { method: 'POST', headers, body }));
        if (answer.status !== 202) throw new Error(`${answer.status}: ${await answer.text()}`);
        await answer.arrayBuffer();
      }
      const { prefix } = receiver;
      await receiver.stop();
      const redis = new Redis(world.redis.url);
      const worker = world.startProduct({ roles: 'work', prefix });
      const before = await countKubeRequests(world.cluster);
      const milliseconds = await timeDrain(redis, `${prefix}:push`, total);
      redis.disconnect();
      const product = await worker;
      const kube = difference(before, await countKubeRequests(world.cluster));
      const registry = [...(await countRegistryRequests(product)).values()].reduce((sum, count) => sum + count, 0);
      await product.stop();
      runs.push({ perSecond: (total / milliseconds) * 1_000, registry, kube });
    }
    const writes = runs.map(({ kube }) => Object.entries(kube).filter(([name]) => !/^(LIST|WATCH) /.test(name)));
    const writesOf = (run: [string, number][]) => run.reduce((sum, [, count]) => sum + count, 0);
    return {
      figures: [
        compared(
          {
            name: 'worked off, against webhooks answered by their floor',
            floor: median(floor),
            product: median(runs.map(({ perSecond }) => perSecond)),
            unit: '/s',
          },
          { atLeast: 0.7 },
        ),
        limited({ name: 'registry requests', product: Math.max(...runs.map(({ registry }) => registry)), unit: '' }, { exactly: 0 }),
        limited({ name: 'API requests', product: Math.max(...writes.map(writesOf)), unit: '' }, { exactly: 0 }),
      ],
      raw: { runs, floor },
    };
  },
};

/** From the first job that is taken until the last one is done. */
async function timeDrain(redis: Redis, queue: string, total: number): Promise<number> {
  let start: number | undefined;
  for (;;) {
    const [waiting, done] = await Promise.all([redis.llen(`${queue}:wait`), redis.zcard(`${queue}:completed`)]);
    if (waiting < total) start ??= performance.now();
    if (done >= total && start !== undefined) return performance.now() - start;
    await delay(2);
  }
}
