/** A client in a thread of its own: what it costs is not counted as the server's. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { TestContext } from 'node:test';

const script = `
const { connect } = require('node:net');
const { parentPort, workerData } = require('node:worker_threads');
parentPort.on('message', (request) => {
  const socket = connect(workerData, '127.0.0.1').setEncoding('utf8');
  let answer = '';
  socket.on('data', (text) => (answer += text));
  // The server may end a connection before it has read all.
  socket.on('error', () => undefined);
  socket.on('close', () => parentPort.postMessage(answer));
  socket.write(request);
});`;

/** Sends the bytes of one request to the port over a connection of its own, and gives all that was answered when the server has ended it. */
export function createRawClient(t: Pick<TestContext, 'after'>, port: number): (request: Buffer) => Promise<string> {
  const worker = new Worker(script, { eval: true, workerData: port });
  t.after(() => worker.terminate());
  return async (request) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(request);
    const [answer] = (await once(worker, 'message')) as [string];
    return answer;
  };
}

/** The request as bytes; its connection ends with the answer. */
export function rawRequest(head: string, headers: Readonly<Record<string, string>>, body: Buffer = Buffer.alloc(0)): Buffer {
  const lines = Object.entries({ host: 'a', connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = headers['transfer-encoding'] === undefined ? `content-length: ${body.length}\r\n` : '';
  return Buffer.concat([Buffer.from(`${head} HTTP/1.1\r\n${lines.join('')}${length}\r\n`), body]);
}
