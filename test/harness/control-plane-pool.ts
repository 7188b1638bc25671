/** The control planes that the files of one test run share, one file after the other. */
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type OwnControlPlane, startControlPlane } from './control-plane.ts';
import { restoreEtcd, type Snapshot, takeSnapshot } from './etcd-snapshot.ts';
import { tempFolder } from './temp-folder.ts';
import { waitFor } from './wait-for.ts';

export type ControlPlanePool = {
  /** The socket where `borrowControlPlane` asks. */
  readonly path: string;
  stop(): Promise<void>;
};

type Plane = { readonly cluster: OwnControlPlane; readonly empty: Snapshot };

/**
 * Starts a control plane when all that there are have been lent, so that there are never more than test files running at once. A connection borrows one for as long
 * as it is open; then all that was made in it is removed.
 */
export async function startPool(): Promise<ControlPlanePool> {
  const path = join(tempFolder('pool'), 'socket');
  const started = new Set<OwnControlPlane>();
  const sockets = new Set<Socket>();
  const idle: Plane[] = [];
  const restoring = new Set<Promise<void>>();
  let isStopping = false;

  const startPlane = async (): Promise<Plane> => {
    const cluster = await startControlPlane({ fsync: false });
    started.add(cluster);
    // The API server makes its own Service after it is ready; one that comes after the snapshot would be removed with what a test made.
    await waitFor('the Service of the API server', () => cluster.request('GET', '/api/v1/namespaces/default/services/kubernetes'));
    return { cluster, empty: await takeSnapshot(cluster.etcd.url) };
  };
  const take = async (): Promise<Plane> => {
    while (idle.length === 0 && restoring.size > 0) await Promise.race(restoring);
    return idle.pop() ?? startPlane();
  };
  const takeBack = async (plane: Plane): Promise<void> => {
    if (isStopping) return;
    const { cluster, empty } = plane;
    try {
      await restoreEtcd(cluster.etcd.url, empty);
      idle.push(plane);
    } catch (error) {
      process.stderr.write(`a control plane is not used again: ${(error as Error).message}\n`);
      started.delete(cluster);
      await cluster.stop();
    }
  };
  const lend = async (socket: Socket): Promise<void> => {
    sockets.add(socket);
    const ended = new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    socket.resume();
    try {
      const plane = await take();
      socket.write(`${JSON.stringify({ endpoints: plane.cluster.endpoints })}\n`);
      await ended;
      const done = takeBack(plane).finally(() => restoring.delete(done));
      restoring.add(done);
      // Only now does the borrower go on: whoever borrows next gets this one.
      socket.end();
    } catch (error) {
      socket.end(`${JSON.stringify({ error: (error as Error).message })}\n`);
    }
  };

  const server = createServer({ allowHalfOpen: true }, (socket) => void lend(socket));
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  return {
    path,
    async stop() {
      isStopping = true;
      server.close();
      for (const socket of sockets) socket.destroy();
      await Promise.all(restoring);
      await Promise.all([...started].map((cluster) => cluster.stop()));
    },
  };
}
