import { join } from 'node:path';
import { startServer } from '../../test/harness/server.ts';
import { harborBody } from '../../test/end-to-end/world.ts';
import { readRss } from '../world/counters.ts';
import { alternate } from '../world/alternate.ts';
import { sendLoad } from '../world/load.ts';
import { median, midMean, percentile } from '../world/statistics.ts';
import { secret, type BenchWorld } from '../world/world.ts';
import { compared, type Row } from './row.ts';

/** What the receiver alone can take. */
export const webhooks: Row = {
  id: 'webhooks',
  title: 'Webhooks over 64 connections, to a receiver and (as the floor) to Fastify with one BullMQ add, in turns.',
  async run(world, quick) {
    const requests = quick ? 100 : 10_000;
    const bare = await startBareWebhook(world);
    const product = await world.startProduct({ roles: 'receive' });
    const sides = { floor: bare, product: `${product.publicUrl}/webhooks/harbor` };
    const measure = (url: string) => measureWebhooks(url, requests);
    const rounds = await alternate(
      quick ? { rounds: 1, warmUp: 1 } : { rounds: 12, warmUp: 2 },
      () => measure(sides.floor),
      () => measure(sides.product),
    );
    const figure = (what: 'perSecond' | 'p99') => ({
      floor: midMean(rounds.map(({ floor }) => floor[what])),
      product: midMean(rounds.map(({ product }) => product[what])),
    });
    return {
      figures: [
        compared({ name: 'requests', ...figure('perSecond'), unit: '/s' }, { atLeast: 0.8 }),
        compared({ name: 'p99', ...figure('p99'), unit: 'ms' }, undefined),
        { name: 'memory of the receiver afterwards (RSS)', product: readRss(product.pid), unit: 'MB' },
      ],
      raw: { rounds },
    };
  },
};

let pushes = 0;

/** How many webhooks an address answers. */
export async function measureWebhooks(
  url: string,
  requests: number,
): Promise<{ perSecond: number; p50: number; p99: number; refused: number }> {
  const body = () => harborBody('127.0.0.1:1', 'load/web', [{ tag: `1.0.${pushes++}`, digest: `sha256:${'0'.repeat(64)}` }]);
  const { perSecond, times, refused } = await sendLoad({ url, connections: 64, requests, headers: { authorization: secret }, body });
  // All refused is no measurement.
  if (times.length === 0) return measureWebhooks(url, requests);
  return { perSecond, p50: median(times), p99: percentile(times, 0.99), refused };
}

/** Fastify with one BullMQ add: the floor of webhooks. */
export async function startBareWebhook({ redis, keep }: BenchWorld): Promise<string> {
  const file = join(import.meta.dirname, '../floor/bare-webhook.ts');
  const server = await startServer({
    name: 'bare-webhook',
    command: process.execPath,
    portCount: 1,
    args: ([port]) => [file, String(port), redis.url],
    isReady: async ([port]) => (await fetch(`http://127.0.0.1:${port}/`)).ok,
  });
  keep(server);
  return `http://127.0.0.1:${server.ports[0]}/`;
}
