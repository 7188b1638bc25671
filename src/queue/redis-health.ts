import type { RedisConnection } from './connection.ts';
import { ownerOf } from './key-owner.ts';
import { tooLate } from './limit-commands.ts';

export interface RedisHealth {
  readonly reachable: boolean;
  /** Used share of `maxmemory`, 0 to 1; 0 without a limit. */
  readonly memoryShare: number;
  /** `maxmemory`; 0 without a limit. */
  readonly memoryLimit?: number;
  /** What makes an accepted push mortal: no AOF, a policy that evicts; undefined when all is well or cannot be known. */
  readonly durabilityProblem?: string;
  readonly error?: string;
}

export interface RedisMonitor {
  health(): RedisHealth;
  /** Pushes are being stored: until the next look they are counted as if they were there, and many of them cause one. */
  noteStored(pushes: number): void;
  stop(): void;
}

/** What one push takes in Redis, with all its traces. */
const bytesPerPush = 2_000;
/** A small Redis is full within a second: the next look comes when so much of it may have been taken since the last one. */
const shareBetweenChecks = 0.02;

/**
 * Looks at Redis once a second, at once when it comes (back), and more often while much is stored, so that no webhook has to. A connection that goes on
 * without answers is made anew: where a node crashed nobody tells of its end, and TCP gives up after a quarter of an hour.
 */
export function monitorRedis(
  redis: RedisConnection,
  prefix: string,
  onChange: (health: RedisHealth) => void,
  everyMs = 1_000,
): RedisMonitor {
  let current: RedisHealth = { reachable: false, memoryShare: 0, error: 'not connected yet' };
  let looking = false;
  let storedBytes = 0;
  const look = async () => {
    if (looking) return;
    looking = true;
    // Asked on the connection that they are written on, Redis answers after them.
    const seenBytes = storedBytes;
    let next = await inspect(redis, prefix);
    // One late answer is a busy disk, no outage: for that it takes two in a row.
    if (next.error === tooLate && current.reachable) next = await inspect(redis, prefix);
    if (next.error === tooLate) await reconnect(redis, prefix);
    storedBytes -= seenBytes;
    looking = false;
    const changed = next.reachable !== current.reachable || next.durabilityProblem !== current.durabilityProblem;
    current = next;
    if (changed) onChange(next);
  };
  const checkNow = () => void look();
  const timer = setInterval(checkNow, everyMs);
  redis.on('ready', checkNow);
  return {
    health() {
      const { memoryShare, memoryLimit = 0 } = current;
      return memoryLimit === 0 ? current : { ...current, memoryShare: memoryShare + storedBytes / memoryLimit };
    },
    noteStored(pushes) {
      storedBytes += pushes * bytesPerPush;
      const { memoryLimit = 0 } = current;
      if (memoryLimit > 0 && storedBytes > memoryLimit * shareBetweenChecks) checkNow();
    },
    stop() {
      clearInterval(timer);
      redis.off('ready', checkNow);
    },
  };
}

/** One look at the server that has our keys: INFO, which also tells what durability hangs on (a managed Redis may hide CONFIG). */
export async function inspect(redis: RedisConnection, prefix: string): Promise<RedisHealth> {
  try {
    const server = await ownerOf(redis, prefix);
    const info = parseInfo(await server.info());
    if (info['role'] === 'slave') {
      // The address may be another server's since a failover.
      server.disconnect(true);
      return { reachable: false, memoryShare: 0, error: 'Redis is a replica and takes no writes' };
    }
    const used = Number(info['used_memory'] ?? 0);
    const limit = Number(info['maxmemory'] ?? 0);
    const durabilityProblem = checkDurability(info);
    return {
      reachable: true,
      memoryShare: limit > 0 ? used / limit : 0,
      memoryLimit: limit,
      ...(durabilityProblem !== undefined && { durabilityProblem }),
    };
  } catch (error) {
    return { reachable: false, memoryShare: 0, error: error instanceof Error ? error.message : String(error) };
  }
}

async function reconnect(redis: RedisConnection, prefix: string): Promise<void> {
  try {
    const server = await ownerOf(redis, prefix);
    server.disconnect(true);
  } catch {
    // A Cluster that does not tell: the next look asks again.
  }
}

function checkDurability({ aof_enabled: aof, maxmemory_policy: policy }: Record<string, string>): string | undefined {
  const problems: string[] = [];
  if (aof === '0') problems.push('appendonly is off: a restart of Redis loses accepted pushes');
  if (policy !== undefined && policy !== 'noeviction') problems.push(`maxmemory-policy is ${policy}: a full Redis drops accepted pushes`);
  return problems.length > 0 ? problems.join('; ') : undefined;
}

function parseInfo(text: string): Record<string, string> {
  const lines = text.split('\r\n').map((line) => line.split(':'));
  return Object.fromEntries(lines.flatMap(([key, value]) => (key && value !== undefined ? [[key, value]] : [])));
}
