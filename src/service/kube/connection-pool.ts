import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { KubeAccess, KubeTls } from './kube-access.ts';

/** The kept-alive connections to one API server. Watches have their own, because each occupies a connection for minutes and would starve the requests. */
export interface Connections {
  readonly origin: string;
  /** The prefix of all paths if the API server is behind one; without a trailing slash. */
  readonly basePath: string;
  readonly requests: Dispatcher;
  readonly streams: Dispatcher;
}

/** Opens connections, and closes all of them. */
export interface ConnectionPool {
  /** Returns the connections for these credentials: the same ones while the TLS material is the same. */
  connect(access: KubeAccess): Connections;
  /** Lets requests finish and aborts streams. */
  close(): Promise<void>;
}

const maxConnections = 32;
const connectTimeoutMs = 10_000;
// Below the idle limits of the API server (90 s) and common load balancers (60 s). undici's 4 s would cause a TLS handshake for most pushes.
const keepAliveMs = 50_000;

/** Creates a pool, which connects when a connection is first needed. */
export function createConnectionPool(): ConnectionPool {
  let current: (Connections & { readonly access: KubeAccess; readonly fingerprint: string }) | undefined;
  let closed = false;
  return {
    connect(access) {
      if (closed) throw new Error('the Kubernetes client is closed');
      if (current?.access === access) return current;
      const fingerprint = fingerprintOf(access);
      if (current?.fingerprint === fingerprint) return (current = { ...current, access });
      // Requests on the old connections may finish, because a new certificate does not invalidate the old one immediately.
      if (current) void Promise.allSettled([current.requests.close(), current.streams.close()]);
      const { origin, pathname } = new URL(access.server);
      current = {
        access,
        fingerprint,
        origin,
        basePath: pathname.replace(/\/+$/, ''),
        requests: createDispatcher(access, maxConnections),
        streams: createDispatcher(access, null),
      };
      return current;
    },
    async close() {
      if (closed) return;
      closed = true;
      await Promise.all([current?.streams.destroy(), current?.requests.close()]);
    },
  };
}

function createDispatcher({ tls, proxyUrl }: KubeAccess, connections: number | null): Dispatcher {
  const secure: KubeTls & { allowH2: boolean } = { ...tls, allowH2: false };
  const limits = { connections, pipelining: 1, keepAliveTimeout: keepAliveMs, allowH2: false };
  if (proxyUrl) return new ProxyAgent({ uri: proxyUrl, requestTls: { ...secure, timeout: connectTimeoutMs }, ...limits });
  return new Agent({ ...limits, connect: { ...secure, timeout: connectTimeoutMs, keepAlive: true, keepAliveInitialDelay: 30_000 } });
}

function fingerprintOf({ server, tls, proxyUrl }: KubeAccess): string {
  const { ca, cert, key, servername, rejectUnauthorized } = tls;
  return JSON.stringify([server, proxyUrl, String(ca), String(cert), String(key), servername, rejectUnauthorized]);
}
