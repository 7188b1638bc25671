import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

// Below the ranges from which Linux and macOS take the ports of outgoing connections: a server that is killed must find its port free when it is
// restarted, however many connections others open meanwhile.
const lowest = 12_000;
const highest = 32_000;
const blockSize = 100;
const blocks = (highest - lowest) / blockSize;
let block: Promise<number> | undefined;
let given = 0;

/** A loopback port that nobody listens on now; whoever uses it must survive that somebody else takes it first. */
export async function freePort(): Promise<number> {
  const first = await (block ??= claimBlock());
  for (let attempt = 0; attempt < blockSize; attempt++) {
    const port = first + (given++ % blockSize);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free loopback port found between ${first} and ${first + blockSize}`);
}

/**
 * The first of some ports that are this process's own for as long as it lives: test files run side by side, each in a process of its own, and nobody must take
 * what another's server will want back. Whoever listens on the last of them has them.
 */
async function claimBlock(): Promise<number> {
  for (let attempt = 0; attempt < blocks; attempt++) {
    const first = lowest + ((process.pid + attempt) % blocks) * blockSize;
    const claim = await tryListen(first + blockSize - 1);
    if (claim === undefined) continue;
    claim.unref();
    return first;
  }
  throw new Error(`all loopback ports between ${lowest} and ${highest} are claimed`);
}

async function isFree(port: number): Promise<boolean> {
  const server = await tryListen(port);
  server?.close();
  return server !== undefined;
}

async function tryListen(port: number): Promise<Server | undefined> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}
