import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Redis } from 'ioredis';

/** What `MONITOR` shows while something is done. */
export interface RedisTraffic {
  /** Commands as clients sent them, by name; those of scripts are not among them. */
  readonly commands: Record<string, number>;
  /** Times that somebody waits for an answer: a transaction is one. */
  readonly roundTrips: number;
}

/**
 * Counts the commands of all clients, from the first to the last, except those that check the health of Redis. Reads `MONITOR` from a socket of its own:
 * ioredis fails when the first commands arrive together with the answer to MONITOR, as they do from a busy Redis.
 */
export async function monitorRedis(url: string, work: () => Promise<void>): Promise<RedisTraffic> {
  const { hostname, port } = new URL(url);
  const redis = new Redis(url);
  // So that its own first commands are not counted.
  await redis.ping();
  const socket = connect(Number(port), hostname);
  try {
    socket.write('MONITOR\r\n');
    const lines = readLines(socket);
    const { value: answer } = await lines.next();
    if (answer !== '+OK') throw new Error(`MONITOR was answered ${answer}`);
    // Shown after every command that came before it.
    const end = randomUUID();
    const [traffic] = await Promise.all([count(lines, end), work().then(() => redis.echo(end))]);
    return traffic;
  } finally {
    socket.destroy();
    redis.disconnect();
  }
}

/** Reads lines such as `+1795400513.080485 [0 127.0.0.1:35386] "incr" "counter"`, up to the one that contains `end`. */
async function count(lines: AsyncIterable<string>, end: string): Promise<RedisTraffic> {
  const commands = new Map<string, number>();
  const transactions = new Set<string>();
  let roundTrips = 0;
  for await (const line of lines) {
    if (line.includes(end)) return { commands: Object.fromEntries([...commands].sort(([, a], [, b]) => b - a)), roundTrips };
    const [, source = '', name = ''] = /^\+[\d.]+ \[\d+ ([^\]]+)\] "([^"]+)"/.exec(line) ?? [];
    const command = name.toLowerCase();
    if (source === 'lua' || command === 'info' || command === 'ping') continue;
    commands.set(command, (commands.get(command) ?? 0) + 1);
    if (command === 'multi') transactions.add(source);
    if (command === 'exec') transactions.delete(source);
    if (!transactions.has(source)) roundTrips++;
  }
  throw new Error('Redis ended the connection of MONITOR');
}

async function* readLines(socket: Socket): AsyncGenerator<string, undefined> {
  let rest = '';
  for await (const chunk of socket.setEncoding('utf8')) {
    const lines = `${rest}${String(chunk)}`.split('\r\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  return undefined;
}
