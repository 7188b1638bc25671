import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ranges from which Linux and macOS take the ports of outgoing connections: a server that is killed must find its port free when it is
// restarted, however many connections others open meanwhile.
const lowest = 12_000;
const highest = 32_000;
// Test files run side by side, each in a process of its own: with ports of its own nobody takes what another's server will want back.
const count = 100;
const first = lowest + (process.pid % ((highest - lowest) / count)) * count;
let given = 0;

/** A loopback port that nobody listens on now; whoever uses it must survive that somebody else takes it first. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < count; attempt++) {
    const port = first + (given++ % count);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free loopback port found between ${first} and ${first + count}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
