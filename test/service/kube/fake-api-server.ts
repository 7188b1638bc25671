import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createKubeClient, type KubeClient, type KubeClientOptions } from '../../../src/service/kube/client.ts';
import { loadKubeAccess } from '../../../src/service/kube/load-kube-access.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

/** One received request, and how to answer it. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly response: ServerResponse;
  json(status: number, body: unknown, headers?: Record<string, string>): void;
  /** Cuts the connection without an answer. */
  reset(): void;
}

/** An API server in this process that answers as the test says: for the faults that a real one does not show on request. */
export interface FakeApiServer {
  readonly kubeconfigPath: string;
  readonly exchanges: readonly Exchange[];
  connections(): number;
  handle(handler: (exchange: Exchange) => void): void;
  client(options?: Omit<KubeClientOptions, 'kubeconfig'>): KubeClient;
  stop(): Promise<void>;
}

/** Starts it on a free loopback port; `user` is the kubeconfig's user, `basePath` a prefix of all paths. */
export async function startFakeApiServer({
  user = { token: 'secret' },
  basePath = '',
}: { user?: object; basePath?: string } = {}): Promise<FakeApiServer> {
  let handler = answerEmpty;
  let connections = 0;
  const exchanges: Exchange[] = [];
  const clients: KubeClient[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const exchange = describe(request, response, body);
      exchanges.push(exchange);
      return handler(exchange);
    });
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const kubeconfigPath = writeKubeconfig(`http://127.0.0.1:${port}${basePath}`, user);
  const access = await loadKubeAccess({ kubeconfig: kubeconfigPath });
  return {
    kubeconfigPath,
    exchanges,
    connections: () => connections,
    handle: (next) => (handler = next),
    client(options = {}) {
      const client = createKubeClient(access, options);
      clients.push(client);
      return client;
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

/** A kubeconfig file for one server and one user. */
export function writeKubeconfig(server: string, user: object, cluster: object = { 'insecure-skip-tls-verify': true }): string {
  const path = join(tempFolder('kubeconfig'), 'config');
  const config = {
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server, ...cluster } }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
  writeFileSync(path, stringify(config));
  return path;
}

function describe(request: IncomingMessage, response: ServerResponse, body: string): Exchange {
  const url = new URL(request.url ?? '/', 'http://fake');
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body,
    response,
    json(status, answer, headers = {}) {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    },
    reset: () => request.socket.destroy(),
  };
}

function answerEmpty(exchange: Exchange): void {
  exchange.json(200, {});
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk as string;
  return body;
}
