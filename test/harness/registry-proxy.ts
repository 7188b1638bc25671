import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that went through, with the bytes of its body and of its answer. */
export type Passed = { method: string; path: string; authorization?: string; status: number; sent: number; received: number };

export type ProxyFault = { status: number; headers?: Record<string, string>; body?: string } | 'disconnect' | undefined;

/** A proxy in front of a real registry, which counts bytes and injects faults. */
export type RegistryProxy = {
  /** Address and port, as in an image reference. */
  readonly host: string;
  readonly requests: readonly Passed[];
  /** Holds a request up until this is settled; undefined passes it on at once. */
  hold: (method: string, path: string) => Promise<unknown> | undefined;
  /** Answers a request instead of the registry; undefined passes it on. */
  fault: (method: string, path: string, authorization: string | undefined) => ProxyFault;
  /** Changes the headers of an answer. */
  onAnswer: (headers: Record<string, string | string[] | undefined>, method: string, path: string) => void;
  stop(): Promise<void>;
};

/** Starts it on a free loopback port. */
export async function startRegistryProxy(registry: string): Promise<RegistryProxy> {
  const requests: Passed[] = [];
  const server = createServer((incoming, response) => {
    const { method = '', url: path = '', headers } = incoming;
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      const record: Passed = {
        method,
        path,
        status: 0,
        sent: body.length,
        received: 0,
        ...(headers.authorization !== undefined && { authorization: headers.authorization }),
      };
      requests.push(record);
      const held = proxy.hold(method, path);
      if (held === undefined) respond(record, body);
      else void held.then(() => respond(record, body));
    });
    const respond = (record: Passed, body: Buffer) => {
      const fault = proxy.fault(method, path, headers.authorization);
      if (fault === 'disconnect') return void response.destroy();
      if (fault !== undefined) {
        record.status = fault.status;
        return void response.writeHead(fault.status, fault.headers).end(fault.body ?? '');
      }
      const [hostname, port] = registry.split(':');
      const onward = forward({ hostname, port, method, path, headers }, (answer) => {
        const changed = { ...answer.headers };
        proxy.onAnswer(changed, method, path);
        record.status = answer.statusCode ?? 0;
        response.writeHead(record.status, changed);
        answer.on('data', (chunk: Buffer) => (record.received += chunk.length));
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      onward.end(body);
    };
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: RegistryProxy = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    hold: () => undefined,
    fault: () => undefined,
    onAnswer: () => {},
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return proxy;
}
