import type { Redis } from 'ioredis';

export interface RedisHealth {
  readonly reachable: boolean;
  /** Used share of `maxmemory`, 0 to 1; 0 without a limit. */
  readonly memoryShare: number;
  /** What makes an accepted push mortal: no AOF, a policy that evicts; undefined when all is well or cannot be known. */
  readonly durabilityProblem?: string;
  readonly error?: string;
}

export interface RedisMonitor {
  health(): RedisHealth;
  stop(): void;
}

/** Looks at Redis once a second, and at once when it comes (back), so that no webhook has to. */
export function monitorRedis(redis: Redis, onChange: (health: RedisHealth) => void, everyMs = 1_000): RedisMonitor {
  let current: RedisHealth = { reachable: false, memoryShare: 0, error: 'not connected yet' };
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    const next = await inspect(redis);
    looking = false;
    const changed = next.reachable !== current.reachable || next.durabilityProblem !== current.durabilityProblem;
    current = next;
    if (changed) onChange(next);
  };
  const lookNow = () => void look();
  const timer = setInterval(lookNow, everyMs);
  redis.on('ready', lookNow);
  return {
    health: () => current,
    stop() {
      clearInterval(timer);
      redis.off('ready', lookNow);
    },
  };
}

/** One look: INFO memory, and the two settings that durability hangs on (a managed Redis may hide CONFIG). */
export async function inspect(redis: Redis): Promise<RedisHealth> {
  try {
    const memory = parseInfo(await redis.info('memory'));
    const used = Number(memory['used_memory'] ?? 0);
    const limit = Number(memory['maxmemory'] ?? 0);
    const durabilityProblem = await checkDurability(redis, memory['maxmemory_policy']);
    return { reachable: true, memoryShare: limit > 0 ? used / limit : 0, ...(durabilityProblem !== undefined && { durabilityProblem }) };
  } catch (error) {
    return { reachable: false, memoryShare: 0, error: error instanceof Error ? error.message : String(error) };
  }
}

async function checkDurability(redis: Redis, policy: string | undefined): Promise<string | undefined> {
  const problems: string[] = [];
  const persistence = parseInfo(await redis.info('persistence'));
  if (persistence['aof_enabled'] === '0') problems.push('appendonly is off: a restart of Redis loses accepted pushes');
  if (policy !== undefined && policy !== 'noeviction') problems.push(`maxmemory-policy is ${policy}: a full Redis drops accepted pushes`);
  return problems.length > 0 ? problems.join('; ') : undefined;
}

function parseInfo(text: string): Record<string, string> {
  const lines = text.split('\r\n').map((line) => line.split(':'));
  return Object.fromEntries(lines.flatMap(([key, value]) => (key && value !== undefined ? [[key, value]] : [])));
}
