/** What stands in front of replicas in a cluster: passes connections on to who is ready, and tries none of them twice. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '../../test/harness/wait-for.ts';

/** A replica: where it listens, and where it says whether it is ready. */
export interface Backend {
  readonly port: number;
  readonly readyUrl: string;
}

export interface Balancer {
  readonly port: number;
  /** Until it passes connections on to all of them; a rolling update goes on only then. */
  allReady(): Promise<void>;
  /** Why connections were broken off, and how often: `no replica is ready`, `ECONNREFUSED`, `ECONNRESET` … */
  readonly broken: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** A cluster's probes come less often; there, a pod that is to go waits for them before it hears of its end. */
const probeMs = 50;

/** Starts it on a free loopback port. */
export async function startBalancer(backends: readonly Backend[]): Promise<Balancer> {
  const ready = new Set<Backend>();
  const broken = new Map<string, number>();
  const over = new AbortController();
  const probing = backends.map((backend) => probe(backend, ready, over.signal));
  let turn = 0;
  const server = createServer((client) => {
    const open = [...ready];
    const backend = open[turn++ % open.length];
    const breakOff = (why: string) => {
      broken.set(why, (broken.get(why) ?? 0) + 1);
      client.destroySoon();
    };
    client.on('error', () => undefined);
    if (backend === undefined) return breakOff('no replica is ready');
    const onward = connect(backend.port, '127.0.0.1');
    onward.on('error', (error: NodeJS.ErrnoException) => breakOff(error.code ?? error.message));
    client.once('close', () => onward.destroy());
    // Whom nobody reads any more never hears of the end.
    onward.once('close', () => client.destroySoon());
    client.pipe(onward).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    broken,
    async allReady() {
      await waitFor('the balancer to have all replicas', () => ready.size === backends.length);
    },
    async stop() {
      over.abort();
      await Promise.all(probing);
      server.close();
      await once(server, 'close');
    },
  };
}

/** One probe after the other: an answer that comes late must not take the place of a newer one. */
async function probe(backend: Backend, ready: Set<Backend>, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const isReady = await fetch(backend.readyUrl).then(
      async (answer) => (await answer.arrayBuffer(), answer.ok),
      () => false,
    );
    if (isReady) ready.add(backend);
    else ready.delete(backend);
    await delay(probeMs);
  }
}
