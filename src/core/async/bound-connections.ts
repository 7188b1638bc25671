import type { Server, Socket } from 'node:net';
import { networkOf } from './network-of.ts';

/**
 * Bounds a server's connections, so that nobody can take all of them. If there are too many, one is closed: of the network with the most, and there the oldest of the
 * address with the most. If that is the address of the new connection, the new connection is closed instead.
 */
export function boundConnections(server: Pick<Server, 'on'>, max: number): void {
  const open = new Map<string, Map<string, Set<Socket>>>();
  let count = 0;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const network = networkOf(address);
    const neighbours = open.get(network) ?? new Map<string, Set<Socket>>();
    const own = neighbours.get(address) ?? new Set();
    open.set(network, neighbours.set(address, own.add(socket)));
    count++;
    socket.once('close', () => {
      count--;
      own.delete(socket);
      if (own.size === 0 && neighbours.get(address) === own) neighbours.delete(address);
      if (neighbours.size === 0 && open.get(network) === neighbours) open.delete(network);
    });
    if (count <= max) return;
    const crowded = largest(open.values(), neighbours, (addresses) => [...addresses.values()].reduce((sum, { size }) => sum + size, 0));
    const crowd = largest(crowded.values(), crowded === neighbours ? own : new Set<Socket>(), ({ size }) => size);
    const [oldest = socket] = crowd;
    (crowd === own ? socket : oldest).destroy();
  });
}

/** The largest of several; of equally large ones, `preferred`. */
function largest<T>(all: Iterable<T>, preferred: T, sizeOf: (one: T) => number): T {
  let found = preferred;
  for (const one of all) if (sizeOf(one) > sizeOf(found)) found = one;
  return found;
}
