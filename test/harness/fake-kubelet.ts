/**
 * The part of a kubelet that forwards ports, behind a real API server: there is no node here that could run pods. It speaks what a kubelet speaks for WebSockets
 * (v4.channel.k8s.io: even channels carry data, odd ones errors, and each begins with the port).
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ControlPlane } from './control-plane.ts';
import { createAuthority, loopback } from './server-certificate.ts';

/** A node of the cluster whose kubelet is this one. */
export interface FakeKubelet {
  readonly node: string;
  /** What was asked for: `/portForward/NAMESPACE/POD?port=9090`. */
  readonly requests: readonly string[];
  stop(): Promise<void>;
}

const protocol = 'v4.channel.k8s.io';
const opcodes = { binary: 2, close: 8 };

/** Registers a node, whose pods have the ports of this machine. */
export async function startFakeKubelet(cluster: ControlPlane, node: string): Promise<FakeKubelet> {
  const requests: string[] = [];
  const open = new Set<Duplex>();
  const server = createServer(await (await createAuthority('kubelet')).issue(loopback), (_, response) => response.writeHead(404).end());
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    requests.push(request.url ?? '');
    open.add(socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy()));
    forward(request, socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const status = { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: port } } };
  await cluster.request('POST', '/api/v1/nodes', { metadata: { name: node } });
  await cluster.request('PATCH', `/api/v1/nodes/${node}/status`, { status }, 'application/merge-patch+json');
  return {
    node,
    requests,
    async stop() {
      for (const socket of open) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A pod that stands for a process of image-watcher with the role `work` on this machine. */
export interface ServicePod {
  readonly namespace: string;
  readonly name: string;
  /** Of the operations listener. */
  readonly port: number;
  readonly isReady?: boolean;
}

/** Creates it, as the chart and a kubelet would. */
export async function createServicePod(
  cluster: ControlPlane,
  node: string,
  { namespace, name, port, isReady = true }: ServicePod,
): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const container = { name: 'image-watcher', image: 'image-watcher', ports: [{ name: 'operations', containerPort: port }] };
  await cluster.request('POST', path, {
    metadata: { name, labels: { 'app.kubernetes.io/name': 'image-watcher', 'image-watcher/work': 'true' } },
    spec: { nodeName: node, containers: [container] },
  });
  const unready = { status: 'False', message: 'containers with unready status: [image-watcher]' };
  const status = { phase: 'Running', conditions: [{ type: 'Ready', ...(isReady ? { status: 'True' } : unready) }] };
  await cluster.request('PATCH', `${path}/${name}/status`, { status }, 'application/merge-patch+json');
}

function forward(request: IncomingMessage, socket: Duplex): void {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(/, */);
  const port = Number(new URL(request.url ?? '', 'https://kubelet').searchParams.get('port'));
  if (!offered.includes(protocol) || !(port > 0)) return void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
  const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
  );
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(port);
  for (const channel of [0, 1]) socket.write(frameOf(opcodes.binary, Buffer.concat([Buffer.from([channel]), bytes])));
  const target: Socket = connect(port, '127.0.0.1');
  const send = (channel: number, data: Buffer) => socket.write(frameOf(opcodes.binary, Buffer.concat([Buffer.from([channel]), data])));
  target.on('data', (data: Buffer) => send(0, data));
  target.on('error', (error) => send(1, Buffer.from(`an error occurred forwarding ${port}: ${error.message}`)));
  target.on('close', () => socket.end(frameOf(opcodes.close, Buffer.alloc(0))));
  socket.on('close', () => target.destroy());
  const read = createFrameReader((opcode, payload) => {
    if (opcode === opcodes.close) target.end();
    else if (payload[0] === 0) target.write(payload.subarray(1));
  });
  socket.on('data', read);
}

/** A frame of a server, which is not masked. https://datatracker.ietf.org/doc/html/rfc6455#section-5.2 */
function frameOf(opcode: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head[0] = 0x80 | opcode;
  if (payload.length < 126) {
    head[1] = payload.length;
    return Buffer.concat([head.subarray(0, 2), payload]);
  }
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

/** Reads the frames of a client, which are masked. */
function createFrameReader(onFrame: (opcode: number, payload: Buffer) => void): (data: Buffer) => void {
  let left = Buffer.alloc(0);
  return (data) => {
    left = Buffer.concat([left, data]);
    for (;;) {
      if (left.length < 2) return;
      const [first = 0, second = 0] = left;
      const short = second & 0x7f;
      const headLength = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (left.length < headLength + 4) return;
      const length = short === 126 ? left.readUInt16BE(2) : short === 127 ? Number(left.readBigUInt64BE(2)) : short;
      const end = headLength + 4 + length;
      if (left.length < end) return;
      const mask = left.subarray(headLength, headLength + 4);
      const payload = Buffer.from(left.subarray(headLength + 4, end));
      for (const [index, byte] of payload.entries()) payload[index] = byte ^ (mask[index % 4] ?? 0);
      onFrame(first & 0x0f, payload);
      left = left.subarray(end);
    }
  };
}
