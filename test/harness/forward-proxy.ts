import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, request as forward } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** What came in: `CONNECT registry.example.com:443`, or for plain http `GET http://ci.example.com/hook`. */
export type ProxyRequest = { readonly line: string; readonly authorization: string | undefined };

/** A real forward proxy on loopback, which is also the DNS of the hosts behind it, and injects faults. */
export type ForwardProxy = {
  readonly port: number;
  /** `http://127.0.0.1:3128`, or `https://localhost:3128` */
  readonly url: string;
  readonly requests: readonly ProxyRequest[];
  /** The targets that came in, each once and sorted. */
  targets(): string[];
  /** The status that a target is answered; undefined lets it pass. `hangs`: no answer at all. */
  fault: (target: string) => number | 'hangs' | undefined;
  stop(): Promise<void>;
};

export type ForwardProxyOptions = {
  /** The local port behind each `host:port`; anything else is answered 502. */
  hosts: Readonly<Record<string, number>>;
  /** The one user who may use it; everybody unless given. */
  user?: string;
  password?: string;
  /** Serves over TLS. */
  tls?: Pick<ServerOptions, 'cert' | 'key'>;
};

/** Starts it on a free port. */
export async function startForwardProxy({ hosts, user, password = '', tls }: ForwardProxyOptions): Promise<ForwardProxy> {
  const requests: ProxyRequest[] = [];
  const sockets = new Set<Socket>();
  const expected = user === undefined ? undefined : `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const refusalOf = (target: string, authorization: string | undefined): number | 'hangs' | undefined => {
    if (expected !== undefined && authorization !== expected) return 407;
    return proxy.fault(target) ?? (hosts[target] === undefined ? 502 : undefined);
  };
  const note = ({ method = '', url = '', headers }: IncomingMessage) => {
    const authorization = headers['proxy-authorization'];
    requests.push({ line: `${method} ${url}`, authorization });
    return authorization;
  };
  const server = tls === undefined ? createHttpServer() : createTlsServer(tls);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
  });
  server.on('request', (incoming, response) => {
    const refusal = refusalOf(new URL(incoming.url ?? '').host, note(incoming));
    if (refusal === 'hangs') return;
    if (refusal !== undefined) return void response.writeHead(refusal).end('from the proxy');
    const { host, pathname, search } = new URL(incoming.url ?? '');
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const onward = forward(
      { port: hosts[host], host: '127.0.0.1', method: incoming.method, path: pathname + search, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  });
  server.on('connect', (incoming: IncomingMessage, client: Socket, head: Buffer) => {
    client.on('error', () => undefined);
    const target = incoming.url ?? '';
    const refusal = refusalOf(target, note(incoming));
    if (refusal === 'hangs') return;
    if (refusal !== undefined) return void client.end(`HTTP/1.1 ${refusal} Refused\r\ncontent-length: 0\r\n\r\n`);
    const onward = connect(hosts[target] ?? 0, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(head);
      onward.pipe(client).pipe(onward);
    });
    onward.on('error', () => client.destroy());
    client.on('close', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const proxy: ForwardProxy = {
    port,
    url: tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    requests,
    targets: () => [...new Set(requests.map(({ line }) => line))].sort(),
    fault: () => undefined,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return proxy;
}
