import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';

/** What `MONITOR` shows while something is done. */
export interface RedisTraffic {
  /** Commands as clients sent them, by name; those of scripts are not among them. */
  readonly commands: Record<string, number>;
  /** Times that somebody waits for an answer: a transaction is one. */
  readonly roundTrips: number;
}

/**
 * Counts the commands of all clients, except for the health checks of Redis, one each second. Reads the lines itself: the monitor of ioredis fails if the first
 * command arrives together with the reply to MONITOR.
 */
export async function monitorRedis(url: string, work: () => Promise<void>): Promise<RedisTraffic> {
  const { hostname, port } = new URL(url);
  const redis = new Redis(url);
  const monitor = connect(Number(port), hostname);
  const lines = createInterface({ input: monitor });
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const last = `end of ${process.hrtime.bigint()}`;
  const commands = new Map<string, number>();
  const transactions = new Set<string>();
  let roundTrips = 0;
  const count = (source: string, command: string) => {
    if (source === 'lua' || command === 'info' || command === 'ping') return;
    commands.set(command, (commands.get(command) ?? 0) + 1);
    if (command === 'multi') transactions.add(source);
    if (command === 'exec') transactions.delete(source);
    if (!transactions.has(source)) roundTrips++;
  };
  // "+OK", then lines such as: +1795400513.080485 [0 127.0.0.1:51724] "EXISTS" "key"
  lines.on('line', (line) => {
    if (line === '+OK') return started.resolve();
    if (line.includes(last)) return ended.resolve();
    const [, source, name] = /^\+[\d.]+ \[\d+ ([^\]]+)\] "([^"]*)"/.exec(line) ?? [];
    if (source === undefined || name === undefined) return ended.reject(new Error(`MONITOR answered ${line}`));
    return count(source, name.toLowerCase());
  });
  monitor.on('error', (error) => [started, ended].forEach(({ reject }) => reject(error)));
  ended.promise.catch(() => undefined);
  try {
    monitor.write('MONITOR\r\n');
    await started.promise;
    await work();
    await redis.ping(last);
    await ended.promise;
  } finally {
    monitor.destroy();
    redis.disconnect();
  }
  return { commands: Object.fromEntries([...commands].sort(([, a], [, b]) => b - a)), roundTrips };
}
