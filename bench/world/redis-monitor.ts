import { Redis } from 'ioredis';

/** What `MONITOR` shows while something is done. */
export interface RedisTraffic {
  /** Commands as clients sent them, by name; those of scripts are not among them. */
  readonly commands: Record<string, number>;
  /** Times that somebody waits for an answer: a transaction is one. */
  readonly roundTrips: number;
}

/** Counts the commands of all clients, but for the once-a-second look at Redis' health. */
export async function monitorRedis(url: string, work: () => Promise<void>): Promise<RedisTraffic> {
  const redis = new Redis(url);
  const monitor = await redis.monitor();
  const commands = new Map<string, number>();
  const transactions = new Set<string>();
  let roundTrips = 0;
  monitor.on('monitor', (_time: string, [name = '']: string[], source: string) => {
    const command = name.toLowerCase();
    if (source === 'lua' || command === 'info' || command === 'ping') return;
    commands.set(command, (commands.get(command) ?? 0) + 1);
    if (command === 'multi') transactions.add(source);
    if (command === 'exec') transactions.delete(source);
    if (!transactions.has(source)) roundTrips++;
  });
  try {
    await work();
    // Answered after everything that came before it.
    await redis.ping();
  } finally {
    monitor.disconnect();
    redis.disconnect();
  }
  return { commands: Object.fromEntries([...commands].sort(([, a], [, b]) => b - a)), roundTrips };
}
