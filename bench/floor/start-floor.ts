import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { startServer, type Server } from '../../test/harness/server.ts';
import type { BenchWorld } from '../world/world.ts';
import type { FloorConfig } from './floor.ts';

/** Starts the floor as a process of its own, as the product is one; its address is `url`. */
export async function startFloor({ redis, registry, cluster, keep }: BenchWorld): Promise<Server & { readonly url: string }> {
  const { server, token, caPem } = cluster;
  const started = await startServer({
    name: 'floor',
    command: process.execPath,
    portCount: 1,
    args: ([port = 0]) => {
      const config: FloorConfig = {
        port,
        redisUrl: redis.url,
        registry: registry.host,
        server,
        token,
        caPem,
        key: `floor:${randomUUID()}`,
      };
      return [join(import.meta.dirname, 'floor.ts'), JSON.stringify(config)];
    },
    isReady: async ([port]) => (await fetch(`http://127.0.0.1:${port}/`)).status === 202,
  });
  return keep(Object.assign(started, { url: `http://127.0.0.1:${started.ports[0]}` }));
}
