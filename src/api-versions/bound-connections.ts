import type { Server, Socket } from 'node:net';

/**
 * Bounds a server's connections, so that nobody can take all of them: when there are too many, the address with the most of them loses its oldest one, or,
 * if that address is the newcomer's, the newcomer is refused.
 */
export function boundConnections(server: Pick<Server, 'on'>, most: number): void {
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
    if (count <= most) return;
    let largest = own;
    for (const sockets of open.values()) if (sockets.size > largest.size) largest = sockets;
    const [oldest = socket] = largest;
    (largest === own ? socket : oldest).destroy();
  });
}
