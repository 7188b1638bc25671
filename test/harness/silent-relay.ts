import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a server that can break without a word, as with a node that crashes: nobody hears of an end. */
export type SilentRelay = {
  readonly port: number;
  /** From now on the connections that are open swallow what they are sent; new ones get through. */
  swallow(): void;
  /** From now on the answers to new connections are held back; those that are open get theirs. */
  hold(): void;
  /** What was swallowed or held back arrives now. */
  release(): void;
  stop(): void;
};

/** Starts it on a free loopback port. */
export async function startSilentRelay(target: number): Promise<SilentRelay> {
  const sockets = new Set<Socket>();
  const pairs = new Map<Socket, Socket>();
  let isHolding = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  };
  // The end of one side is told to the other by the pipe alone.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    keep(client);
    keep(upstream);
    client.pipe(upstream);
    if (!isHolding) upstream.pipe(client);
    pairs.set(client, upstream);
    client.once('close', () => pairs.delete(client));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    swallow() {
      for (const socket of sockets) socket.unpipe();
    },
    hold() {
      isHolding = true;
    },
    release() {
      isHolding = false;
      for (const [client, upstream] of pairs) {
        // Whoever was piped all the time must not be piped twice.
        client.unpipe().pipe(upstream);
        upstream.unpipe().pipe(client);
      }
    },
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
