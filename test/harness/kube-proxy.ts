import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { parse } from 'yaml';
import type { ControlPlane } from './control-plane.ts';

/** What happens to a request on the way to the API server. */
export type KubeFault =
  /** It is answered here, and never arrives. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: object }
  /** The API server does it, and its answer is lost. */
  | { readonly loseAnswer: true }
  /** It is passed on when this is settled. */
  | { readonly after: Promise<unknown> };

/** A request on its way. */
export interface KubeArrival {
  readonly method: string;
  /** Path with query. */
  readonly url: string;
  readonly body: string;
}

/** Which requests, by method and path with query, and how many of them: one unless given. */
export type KubeMatch = { readonly method?: string; readonly path?: RegExp; readonly times?: number };

/** A real API server behind a bad network: what it has not been told to spoil arrives as it was sent. */
export type KubeProxy = {
  readonly server: string;
  /** Method and path of all requests, in order. */
  readonly requests: readonly string[];
  /** Tokens that are good; others are answered 401. */
  readonly tokens: Set<string>;
  spoil(fault: KubeFault, match?: KubeMatch): void;
  /** Asked about each request that nothing else spoils: what happens to it. */
  intercept: ((request: KubeArrival) => Promise<KubeFault | undefined>) | undefined;
  /** Whether faults are left. */
  isSpoiling(): boolean;
  /** Whether the last request came with a token that is none. */
  isRefusing(): boolean;
  /** Everything goes through again. */
  heal(): void;
  /** Breaks all watches. */
  cutWatches(): void;
  stop(): Promise<void>;
};

/** Starts it on a free loopback port; `kubeconfig` has the token that requests arrive with. */
export async function startKubeProxy(cluster: ControlPlane, kubeconfig: string): Promise<KubeProxy> {
  const [user] = (parse(readFileSync(kubeconfig, 'utf8')) as { users: { user: { token: string } }[] }).users;
  const agent = new Agent({ ca: cluster.caPem, keepAlive: true });
  const tokens = new Set<string>();
  let isRefusing = false;
  const requests: string[] = [];
  const watches = new Set<ServerResponse>();
  let faults: { fault: KubeFault; match: KubeMatch; left: number }[] = [];

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '' } = incoming;
    requests.push(`${method} ${url}`);
    const body = Buffer.concat(await incoming.toArray());
    isRefusing = !tokens.has((incoming.headers.authorization ?? '').replace(/^Bearer /, ''));
    if (isRefusing) return answer(response, { status: 401 });
    const found = faults.find(({ match, left }) => left > 0 && (match.method ?? method) === method && (match.path ?? /^/).test(url));
    if (found !== undefined) found.left--;
    const fault = found?.fault ?? (await proxy.intercept?.({ method, url, body: body.toString('utf8') }));
    if (fault !== undefined && 'status' in fault) return answer(response, fault);
    if (fault !== undefined && 'after' in fault) await fault.after;
    const isLost = fault !== undefined && 'loseAnswer' in fault;
    if (/[?&]watch=true/.test(url)) {
      watches.add(response);
      response.once('close', () => watches.delete(response));
    }
    pass(incoming, body, response, isLost);
  };
  const pass = ({ method, url, headers }: IncomingMessage, body: Buffer, response: ServerResponse, isLost: boolean): void => {
    const own = { ...headers, authorization: `Bearer ${user?.user.token}`, 'content-length': String(body.length) };
    const onward = httpsRequest(new URL(url ?? '', cluster.server), { agent, method, headers: own }, (answered) => {
      if (isLost) return void answered.resume().once('end', () => response.destroy());
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      response.flushHeaders();
      answered.pipe(response);
      answered.once('error', () => response.destroy());
    });
    onward.once('error', () => response.destroy());
    response.once('close', () => onward.destroy());
    onward.end(body);
  };

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy: KubeProxy = {
    server: address,
    requests,
    tokens,
    intercept: undefined,
    spoil: (fault, match = {}) => void faults.push({ fault, match, left: match.times ?? 1 }),
    isSpoiling: () => faults.some(({ left }) => left > 0),
    isRefusing: () => isRefusing,
    heal: () => void (faults = []),
    cutWatches() {
      for (const watch of watches) watch.destroy();
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await once(server, 'close');
    },
  };
  return proxy;
}

function answer(response: ServerResponse, { status, headers = {}, body }: Extract<KubeFault, { status: number }>): void {
  const said = body ?? {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: status,
    reason: 'Spoiled',
    message: 'said by the proxy',
  };
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(said));
}
