import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createAuditLog, type AuditLog } from './audit-log.ts';
import { findControlPlane } from './binaries.ts';
import { startEtcd } from './etcd.ts';
import { type KubeKeys, makeKubeKeys } from './kube-keys.ts';
import { type KubeRequest, kubeRequest } from './kube-request.ts';
import { startApiServer, startControllerManager } from './kube-servers.ts';
import type { Server } from './server.ts';
import { tempFolder } from './temp-folder.ts';

/** A Kubernetes control plane of its own: real etcd, API server and, on request, the controllers that roll workloads out. There are no nodes. */
export type ControlPlane = {
  readonly kubeconfigPath: string;
  readonly server: string;
  readonly token: string;
  readonly caPem: string;
  readonly etcd: Server & { readonly url: string };
  readonly apiServer: Server;
  readonly controllerManager: Server | undefined;
  /** Where it was asked for. */
  readonly audit: AuditLog | undefined;
  /** As the administrator. Throws a KubeRequestError with `.status` and the server's message. */
  request: KubeRequest;
  /** Makes a new namespace with a unique name. */
  namespace(prefix?: string): Promise<string>;
  stop(): Promise<void>;
};

/** Starts a control plane on free loopback ports; many may run side by side. `fsync: false` trades etcd's durability for speed, `audit` writes all requests down. */
export async function startControlPlane({ controllerManager = false, fsync = true, audit = false } = {}): Promise<ControlPlane> {
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
      await startApiServer(binaries.kubeApiServer, { keys, etcdUrl: etcd.url, watchList, moreFlags: auditLog?.flags ?? [] }),
    );
    const server = `https://127.0.0.1:${apiServer.ports[0]}`;
    const kubeconfigPath = join(dir, 'kubeconfig');
    writeFileSync(kubeconfigPath, kubeconfig(server, keys), { mode: 0o600 });
    const manager =
      binaries.kubeControllerManager && (await startControllerManager(binaries.kubeControllerManager, { keys, kubeconfigPath }));
    const { token, caPem } = keys;
    const request = kubeRequest({ server, token, caPem });
    return {
      kubeconfigPath,
      server,
      token,
      caPem,
      etcd,
      apiServer,
      request,
      audit: auditLog,
      controllerManager: manager ? keep(manager) : undefined,
      async namespace(prefix = 'test') {
        const name = `${prefix}-${randomUUID().slice(0, 8)}`;
        await request('POST', '/api/v1/namespaces', { metadata: { name } });
        return name;
      },
      stop: () => stopAll(started),
    };
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}

// The latest first: an API server without its etcd takes much longer to end.
async function stopAll(servers: Server[]): Promise<void> {
  for (const server of servers) await server.stop();
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
