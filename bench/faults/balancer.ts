/** What stands in front of replicas in a cluster: passes connections on to who is ready, and tries none of them twice. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';

/** A replica: where it listens, and where it says whether it is ready. */
export interface Backend {
  readonly port: number;
  readonly readyUrl: string;
}

export interface Balancer {
  readonly port: number;
  stop(): Promise<void>;
}

/** A cluster's probes come less often; there, a pod that is to go waits for them before it hears of its end. */
const probeMs = 50;

/** Starts it on a free loopback port. */
export async function startBalancer(backends: readonly Backend[]): Promise<Balancer> {
  const ready = new Set<Backend>();
  const probe = async (backend: Backend) => {
    const isReady = await fetch(backend.readyUrl).then(
      async (answer) => (await answer.arrayBuffer(), answer.ok),
      () => false,
    );
    if (isReady) ready.add(backend);
    else ready.delete(backend);
  };
  const probeAll = () => Promise.all(backends.map(probe));
  await probeAll();
  const timer = setInterval(() => void probeAll(), probeMs);
  let turn = 0;
  const server = createServer((client) => {
    const open = [...ready];
    const backend = open[turn++ % open.length];
    client.on('error', () => undefined);
    if (backend === undefined) return void client.destroy();
    const onward = connect(backend.port, '127.0.0.1');
    onward.on('error', () => client.destroy());
    client.once('close', () => onward.destroy());
    // Whom nobody reads any more never hears of the end.
    onward.once('close', () => client.destroySoon());
    client.pipe(onward).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      clearInterval(timer);
      server.close();
      await once(server, 'close');
    },
  };
}
