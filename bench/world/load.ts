/** Many connections that send one request after the other, as lean as possible: the cores are for those who answer. */
import { once } from 'node:events';
import { connect } from 'node:net';

export interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly requests: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of request number n. */
  readonly body: (n: number) => string;
}

export interface LoadResult {
  readonly perSecond: number;
  /** Milliseconds from request to answer, of those that were accepted. */
  readonly times: readonly number[];
  /** How many were told to try again. */
  readonly refused: number;
}

/** Sends all requests; throws when one is answered with neither 202 nor 503. The rate is that of accepted ones. */
export async function sendLoad({ url, connections, requests, headers, body }: LoadOptions): Promise<LoadResult> {
  const { hostname, port, pathname, host } = new URL(url);
  const fixed = Object.entries({ host, 'content-type': 'application/json', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${pathname} HTTP/1.1\r\n${fixed.join('')}content-length: `;
  const all = Array.from({ length: requests }, (_, index) => {
    const text = body(index);
    return Buffer.from(`${head}${Buffer.byteLength(text)}\r\n\r\n${text}`);
  });
  const times: number[] = [];
  let next = 0;
  const run = async () => {
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    await once(socket, 'connect');
    for (let bytes = all[next++]; bytes !== undefined; bytes = all[next++]) {
      const start = performance.now();
      socket.write(bytes);
      if (await isAccepted(socket)) times.push(performance.now() - start);
    }
    socket.destroy();
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: connections }, run));
  return { perSecond: (times.length / (performance.now() - start)) * 1_000, times, refused: requests - times.length };
}

async function isAccepted(socket: ReturnType<typeof connect>): Promise<boolean> {
  for (let text = ''; ;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text += chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) continue;
    const [, status] = text.split(' ');
    if (status !== '202' && status !== '503') throw new Error(text);
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
    if (text.length >= end + 4 + length) return status === '202';
  }
}
