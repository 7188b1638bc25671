import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { createAuditLog, type AuditLog } from './audit-log.ts';
import { findControlPlane } from './binaries.ts';
import { startEtcd } from './etcd.ts';
import { type KubeKeys, makeKubeKeys } from './kube-keys.ts';
import { type KubeRequest, kubeRequest } from './kube-request.ts';
import { startApiServer, startControllerManager } from './kube-servers.ts';
import type { Server } from './server.ts';
import { tempFolder } from './temp-folder.ts';

/** A Kubernetes control plane that nobody else uses: real etcd, API server and, on request, the controllers that roll workloads out. There are no nodes. */
export type ControlPlane = {
  readonly kubeconfigPath: string;
  readonly server: string;
  readonly token: string;
  readonly caPem: string;
  readonly etcd: { readonly url: string };
  /** As the administrator. Throws a KubeRequestError with `.status` and the server's message. */
  request: KubeRequest;
  /** Makes a new namespace with a unique name. */
  namespace(prefix?: string): Promise<string>;
  stop(): Promise<void>;
};

/** A control plane whose servers the test has started itself, so that it may kill, freeze and restart them. */
export type OwnControlPlane = ControlPlane & {
  readonly etcd: Server & { readonly url: string };
  readonly apiServer: Server;
  /** Where it was asked for. */
  readonly audit: AuditLog | undefined;
  readonly endpoints: Endpoints;
};

/** All that another process needs to use a running control plane. */
export type Endpoints = { readonly server: string; readonly etcdUrl: string; readonly kubeconfigPath: string; readonly keys: KubeKeys };

/** Names the socket of the runner's pool in the environment of the test files. */
export const poolVariable = 'IMAGE_WATCHER_CONTROL_PLANES';

/**
 * An empty control plane, until `stop()` nobody else's: one from the pool of `npm test`, which saves the test file its start, or a new one where there is no
 * pool. Tests must leave its servers alone; those that disturb them use `startControlPlane`.
 */
export async function borrowControlPlane({ controllerManager = false, pool = process.env[poolVariable] } = {}): Promise<ControlPlane> {
  if (pool === undefined) return startControlPlane({ controllerManager, fsync: false });
  const socket = connect(pool);
  await once(socket, 'connect');
  const [line] = (await once(createInterface(socket), 'line')) as [string];
  // The end of this process gives the control plane back too.
  socket.unref();
  const answer = JSON.parse(line) as { endpoints: Endpoints } | { error: string };
  if ('error' in answer) throw new Error(answer.error);
  const { endpoints } = answer;
  const manager = controllerManager ? await startControllers(endpoints) : undefined;
  return {
    ...useControlPlane(endpoints),
    async stop() {
      await manager?.stop();
      socket.ref().end();
      if (!socket.closed) await once(socket, 'close');
    },
  };
}

/** Starts a control plane on free loopback ports; many may run side by side. `fsync: false` trades etcd's durability for speed, `audit` writes all requests down, `moreFlags` are for the API server. */
export async function startControlPlane({
  controllerManager = false,
  fsync = true,
  audit = false,
  moreFlags = [] as readonly string[],
} = {}): Promise<OwnControlPlane> {
  const binaries = await findControlPlane({ controllerManager });
  const dir = tempFolder('control-plane');
  const started: Server[] = [];
  const keep = <S extends Server>(server: S): S => {
    started.unshift(server);
    return server;
  };
  try {
    const keys = await makeKubeKeys(dir);
    const etcd = keep(await startEtcd(binaries.etcd, { fsync }));
    const watchList = binaries.etcdVersion.major > 3 || binaries.etcdVersion.minor >= 5;
    const auditLog = audit ? createAuditLog(dir) : undefined;
    const apiServer = keep(
      await startApiServer(binaries.kubeApiServer, {
        keys,
        etcdUrl: etcd.url,
        watchList,
        moreFlags: [...(auditLog?.flags ?? []), ...moreFlags],
      }),
    );
    const server = `https://127.0.0.1:${apiServer.ports[0]}`;
    const kubeconfigPath = join(dir, 'kubeconfig');
    writeFileSync(kubeconfigPath, kubeconfig(server, keys), { mode: 0o600 });
    const endpoints = { server, etcdUrl: etcd.url, kubeconfigPath, keys };
    if (controllerManager) keep(await startControllers(endpoints));
    return { ...useControlPlane(endpoints), etcd, apiServer, audit: auditLog, endpoints, stop: () => stopAll(started) };
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}

function useControlPlane({ server, etcdUrl, kubeconfigPath, keys }: Endpoints): Omit<ControlPlane, 'stop'> {
  const { token, caPem } = keys;
  const request = kubeRequest({ server, token, caPem });
  return {
    kubeconfigPath,
    server,
    token,
    caPem,
    etcd: { url: etcdUrl },
    request,
    async namespace(prefix = 'test') {
      const name = `${prefix}-${randomUUID().slice(0, 8)}`;
      await request('POST', '/api/v1/namespaces', { metadata: { name } });
      return name;
    },
  };
}

async function startControllers(endpoints: Endpoints): Promise<Server> {
  const { kubeControllerManager } = await findControlPlane({ controllerManager: true });
  return startControllerManager(kubeControllerManager as string, endpoints);
}

// Killed: nothing is read from it any more, and an API server takes more than a second to end in order.
async function stopAll(servers: Server[]): Promise<void> {
  await Promise.all(servers.map((server) => server.kill9()));
}

function kubeconfig(server: string, { caPem, token }: KubeKeys): string {
  const name = 'image-watcher-test';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, 'certificate-authority-data': Buffer.from(caPem).toString('base64') } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
  });
}
