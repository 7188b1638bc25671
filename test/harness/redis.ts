import { connect, type Socket } from 'node:net';
import { findRedis } from './binaries.ts';
import { flags } from './flags.ts';
import { type Faults, startServer } from './server.ts';
import { tempFolder } from './temp-folder.ts';

/** A real Redis of its own: everything acknowledged survives the death of its process. */
export type Redis = Faults & {
  readonly url: string;
  readonly port: number;
  readonly dir: string;
  readonly pid: number;
  logTail(lines?: number): string;
  stop(): Promise<void>;
};

/** So long a server that may hang is asked before it is asked again. */
export const probeMs = 2_000;

export interface RedisOptions {
  /** As in redis.conf ("64mb"). */
  readonly maxmemory?: string;
  /** Further command-line options. */
  readonly args?: readonly string[];
  /** Another server than the usual one. */
  readonly command?: string | undefined;
  /**
   * Waits for the disk before it answers, as in production. No test ends the machine, only processes, whose writes the kernel has already; and a disk that many
   * servers of tests share may take longer than a push has.
   */
  readonly fsync?: boolean;
}

/** Starts Redis on a free loopback port. */
export async function startRedis({ maxmemory = '0', args = [], command, fsync = false }: RedisOptions = {}): Promise<Redis> {
  const dir = tempFolder('redis');
  const server = await startServer({
    name: 'redis',
    command: command ?? (await findRedis()),
    portCount: 1,
    args: ([port]) => [
      ...flags({ port, bind: '127.0.0.1', dir, appendonly: 'yes', appendfsync: fsync ? 'always' : 'no', save: '' }),
      ...flags({ maxmemory, 'maxmemory-policy': 'noeviction' }),
      ...args,
    ],
    isReady: async ([port], pid) => {
      const reply = await askRedis(port as number, 'INFO', probeMs);
      return reply.includes(`process_id:${pid}\r`) && reply.includes('loading:0');
    },
  });
  const [port] = server.ports as [number];
  return {
    ...server,
    get pid() {
      return server.pid;
    },
    url: `redis://127.0.0.1:${port}`,
    port,
    dir,
  };
}

/** One inline command over a bare socket: the harness must not depend on the client that it helps to test. `timeoutMs`: for probes of a server that may hang. */
export function askRedis(
  port: number,
  command: string,
  timeoutMs = 30_000,
  open: (onOpen: () => void) => Socket = (onOpen) => connect(port, '127.0.0.1', onOpen),
): Promise<string> {
  return new Promise((resolve, reject) => {
    let reply = '';
    const socket = open(() => socket.end(`${command}\r\n`));
    socket.setEncoding('utf8').setTimeout(timeoutMs, () => socket.destroy(new Error('no answer')));
    socket.on('data', (chunk: string) => (reply += chunk));
    socket.once('error', reject);
    socket.once('close', () => resolve(reply));
  });
}
