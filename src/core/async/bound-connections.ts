import type { Server, Socket } from 'node:net';

/**
 * Bounds a server's connections, so that nobody can take all of them: when there are too many, the oldest connection of the address with the most is closed, or, if
 * that is the address of the new connection, the new connection.
 */
export function boundConnections(server: Pick<Server, 'on'>, max: number): void {
  const open = new Map<string, Set<Socket>>();
  let count = 0;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const own = open.get(address) ?? new Set();
    open.set(address, own.add(socket));
    count++;
    socket.once('close', () => {
      count--;
      own.delete(socket);
      if (own.size === 0 && open.get(address) === own) open.delete(address);
    });
    if (count <= max) return;
    let largest = own;
    for (const sockets of open.values()) if (sockets.size > largest.size) largest = sockets;
    const [oldest = socket] = largest;
    (largest === own ? socket : oldest).destroy();
  });
}
