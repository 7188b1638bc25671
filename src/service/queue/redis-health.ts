import { defined } from '../../core/model/defined.ts';
import { type ConnectionFailure, explainConnection, isWrongDatabase } from './connection-failures.ts';
import { describeRedisError, ownerOf, tooLate, type RedisConnection } from './connection.ts';

export interface RedisHealth {
  readonly reachable: boolean;
  /** The used share of `maxmemory`, 0 to 1; 0 without a limit. */
  readonly memoryShare: number;
  /** The limit `maxmemory` in bytes; 0 without a limit. */
  readonly memoryLimit?: number;
  /** A setting of Redis that may lose accepted pushes (no AOF, or eviction); undefined if there is none, or if Redis does not report its settings. */
  readonly durabilityProblem?: string;
  readonly error?: string;
  /** Why there is no connection, and what to do; absent if that is not known. */
  readonly failure?: ConnectionFailure;
}

export interface RedisMonitor {
  health(): RedisHealth;
  /** Notes that pushes are being stored: they count as used memory until the next check, and many of them trigger one. */
  noteStored(pushes: number): void;
  stop(): void;
}

/** The memory of one push in Redis with all keys derived from it, in bytes. */
const bytesPerPush = 2_000;
/** The share of the memory after which a check is made early, if it may have been used since the last one. A small Redis may fill up within a second. */
const shareBetweenChecks = 0.02;

/**
 * Checks Redis once a second, when it connects or reconnects, and more often while much is stored. Webhooks rely on these checks and make none of their own.
 */
export function monitorRedis(
  redis: RedisConnection,
  prefix: string,
  onChange: (health: RedisHealth) => void,
  everyMs = 1_000,
): RedisMonitor {
  let current: RedisHealth = { reachable: false, memoryShare: 0, error: 'not connected yet' };
  let isChecking = false;
  let storedBytes = 0;
  let isFirst = true;
  let failure: ConnectionFailure | undefined;
  const check = async () => {
    if (isChecking) return;
    isChecking = true;
    // The check uses the connection that pushes are written on, so Redis answers it after it has stored them.
    const seenBytes = storedBytes;
    let next = await inspect(redis, prefix);
    // One timeout may be a busy disk; two in a row count as an outage.
    if (next.error === tooLate && current.reachable) next = await inspect(redis, prefix);
    storedBytes -= seenBytes;
    isChecking = false;
    if (failure !== undefined) next = next.reachable ? { ...next, failure } : { ...next, error: failure.why, failure };
    const changed =
      isFirst ||
      next.reachable !== current.reachable ||
      next.durabilityProblem !== current.durabilityProblem ||
      next.failure?.remedy !== current.failure?.remedy;
    isFirst = false;
    current = next;
    if (changed) onChange(next);
  };
  const checkNow = () => void check();
  // No check is made during the first connection, because it could only say that there is none. The connection's error or success starts the first check.
  const timer = setInterval(() => {
    if (!isFirst || redis.status !== 'connecting') checkNow();
  }, everyMs);
  const onReady = () => {
    if (failure !== undefined && !isWrongDatabase(failure)) failure = undefined;
    checkNow();
  };
  const onError = (error: Error) => {
    failure = explainConnection(error) ?? failure;
    if (isFirst) checkNow();
  };
  redis.on('ready', onReady);
  redis.on('error', onError);
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
      redis.off('ready', onReady);
      redis.off('error', onError);
    },
  };
}

/** Checks the server that holds our keys once. INFO also shows what durability depends on, while a managed Redis may hide CONFIG. */
export async function inspect(redis: RedisConnection, prefix: string): Promise<RedisHealth> {
  try {
    const server = await ownerOf(redis, prefix);
    const info = parseInfo(await server.info());
    if (info['role'] === 'slave') {
      // The connection is replaced, because after a failover the address may belong to another server. ioredis ends one that asks a Sentinel for ever.
      if (server.status === 'ready') server.disconnect(true);
      return { reachable: false, memoryShare: 0, error: 'Redis is a replica and takes no writes' };
    }
    const used = Number(info['used_memory'] ?? 0);
    const limit = Number(info['maxmemory'] ?? 0);
    const durabilityProblem = checkDurability(info);
    return {
      reachable: true,
      memoryShare: limit > 0 ? used / limit : 0,
      memoryLimit: limit,
      ...defined({ durabilityProblem }),
    };
  } catch (error) {
    return { reachable: false, memoryShare: 0, error: describeRedisError(error) };
  }
}

function checkDurability({ aof_enabled: aof, maxmemory_policy: policy }: Record<string, string>): string | undefined {
  const problems: string[] = [];
  if (aof === '0') problems.push('appendonly is off: a restart of Redis loses accepted pushes');
  if (policy !== undefined && policy !== 'noeviction') problems.push(`maxmemory-policy is ${policy}: a full Redis drops accepted pushes`);
  return problems.length > 0 ? problems.join('; ') : undefined;
}

/** Parses the answer to INFO into its fields by name. */
export function parseInfo(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^([^#:\r\n]+):([^\r\n]*)/gm)].map(([, key = '', value = '']) => [key, value]));
}
