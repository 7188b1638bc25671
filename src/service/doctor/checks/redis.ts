import { type Check, failed, type Finding, ok, skipped, warning } from '../finding.ts';
import { say, type Said } from '../say.ts';

/** The facts that the Redis server that holds the queue reports about itself. */
export type RedisFacts =
  | { readonly why: string }
  | {
      /** The fields of INFO, by name. */
      readonly info: Readonly<Record<string, string>>;
      /** The settings from CONFIG GET, by name; undefined if the server refuses the command, as managed ones do. */
      readonly settings: Readonly<Record<string, string>> | undefined;
      /** The settings `redis.durability` and `redis.minReplicas` of the configuration. */
      readonly durability: 'warn' | 'enforce' | 'ignore';
      readonly minReplicas: number;
      /** The shares of maxmemory above which records are trimmed (`trimFrom`), and pushes are refused. */
      readonly trimFrom: number;
      readonly refuseFrom: number;
    };

type Answered = Extract<RedisFacts, { info: unknown }>;

/** The lag from which on a replica counts as useless, because it confirms nothing. */
const maxLagSeconds = 10;

/** Checks that Redis keeps what it has accepted. */
export const redis: Check<RedisFacts> = {
  id: 'redis',
  lines: ['answers', 'appendonly', 'appendfsync', 'maxmemory-policy', 'memory', 'persistence', 'replicas'],
  evaluate(facts) {
    if ('why' in facts) return [failed('redis/answers', say('redis.down', facts.why), say('redis.down.do'))];
    return [
      answers(facts),
      appendonly(facts),
      appendfsync(facts),
      maxmemoryPolicy(facts),
      memory(facts),
      persistence(facts),
      replicas(facts),
    ];
  },
};

function answers({ info }: Answered): Finding {
  if (info['role'] === 'slave') return failed('redis/answers', say('redis.replica'), say('redis.replica.do'));
  if (info['loading'] === '1') return failed('redis/answers', say('redis.loading'), say('doctor.again'));
  return ok('redis/answers', say('redis.answers', info['redis_version'] ?? say('redis.unknownVersion')));
}

/** The level of a durability problem. With `durability: ignore`, the provider is responsible, so it is only a warning. */
function risk({ durability }: Answered): typeof failed {
  return durability === 'ignore' ? warning : failed;
}

const managed = say('redis.managed.do');

function appendonly(facts: Answered): Finding {
  const enabled = facts.info['aof_enabled'];
  if (enabled === undefined) return skipped('redis/appendonly', say('redis.aof.unknown'), managed);
  if (enabled === '1') return ok('redis/appendonly', say('redis.aof.on'));
  const save = facts.settings?.['save'];
  const why = save === undefined || save === '' ? say('redis.aof.off') : say('redis.aof.offWithSnapshots', save);
  return risk(facts)('redis/appendonly', why, say('redis.aof.off.do'));
}

function appendfsync({ info, settings }: Answered): Finding {
  const line = 'redis/appendfsync';
  if (info['aof_enabled'] === '0') return skipped(line, say('redis.fsync.withoutAof'));
  if (settings === undefined) return skipped(line, say('redis.fsync.noConfig'), managed);
  switch (settings['appendfsync']) {
    case 'always':
      return ok(line, say('redis.fsync.always'));
    case 'everysec':
      return warning(line, say('redis.fsync.everysec'), say('redis.fsync.everysec.do'));
    case 'no':
      return failed(line, say('redis.fsync.no'), say('redis.fsync.no.do'));
    default:
      return skipped(line, say('redis.fsync.unknown'), managed);
  }
}

function maxmemoryPolicy(facts: Answered): Finding {
  const { info, settings } = facts;
  const line = 'redis/maxmemory-policy';
  const policy = info['maxmemory_policy'] ?? settings?.['maxmemory-policy'];
  if (policy === undefined) return skipped(line, say('redis.policy.unknown'), managed);
  if (policy === 'noeviction') return ok(line, say('redis.policy.noeviction'));
  const evicted = Number(info['evicted_keys'] ?? 0);
  return risk(facts)(
    line,
    evicted > 0 ? say('redis.policy.hasEvicted', policy, evicted) : say('redis.policy.evicts', policy),
    say('redis.policy.do'),
  );
}

function inMiB(bytes: number): number {
  return Math.round(bytes / 1_048_576);
}

function memory({ info, trimFrom, refuseFrom }: Answered): Finding {
  const line = 'redis/memory';
  const limit = Number(info['maxmemory'] ?? 0);
  const used = Number(info['used_memory'] ?? 0);
  if (limit === 0) return warning(line, say('redis.memory.unlimited', inMiB(used)), say('redis.memory.unlimited.do'));
  const share = used / limit;
  const figures = [Math.round(share * 100), inMiB(limit)];
  if (share > refuseFrom) return failed(line, say('redis.memory.full', ...figures), say('redis.memory.full.do'));
  if (share > trimFrom) return warning(line, say('redis.memory.crowded', ...figures), say('redis.memory.crowded.do'));
  return ok(line, say('redis.memory.used', ...figures));
}

const writes = {
  aof_last_write_status: 'redis.disk.aof',
  aof_last_bgrewrite_status: 'redis.disk.rewrite',
  rdb_last_bgsave_status: 'redis.disk.snapshot',
} as const;

function persistence({ info }: Answered): Finding {
  const line = 'redis/persistence';
  const known = Object.entries(writes).filter(([field]) => info[field] !== undefined);
  if (known.length === 0) return skipped(line, say('redis.disk.unknown'), managed);
  const errors = known.filter(([field]) => info[field] !== 'ok').map(([, what]) => say(what));
  const [first, ...others] = errors;
  if (first === undefined) return ok(line, say('redis.disk.ok'));
  return failed(
    line,
    say(
      'redis.disk.failed',
      others.reduce((all, one) => say('both', all, one), first),
    ),
    say('redis.disk.failed.do'),
  );
}

function replicas({ info, minReplicas }: Answered): Finding {
  const line = 'redis/replicas';
  if (info['connected_slaves'] === undefined) return skipped(line, say('redis.replicas.unknown'), managed);
  const lags = Object.entries(info).flatMap(([field, value]) => {
    if (!/^slave\d+$/.test(field)) return [];
    const { state, lag } = Object.fromEntries(value.split(',').map((part) => part.split('=') as [string, string]));
    return state === 'online' ? [Number(lag ?? 0)] : [];
  });
  const current = lags.filter((lag) => lag <= maxLagSeconds);
  if (current.length < minReplicas)
    return failed(line, say('redis.replicas.few', upToDate(current.length), minReplicas), say('redis.replicas.few.do'));
  if (current.length < lags.length || lags.length < Number(info['connected_slaves']))
    return warning(
      line,
      say('redis.replicas.lag', Number(info['connected_slaves']) - current.length, info['connected_slaves'], maxLagSeconds),
      say('redis.replicas.lag.do'),
    );
  return ok(line, lags.length === 0 ? say('redis.replicas.none') : upToDate(lags.length));
}

function upToDate(count: number): Said {
  return count === 1 ? say('redis.replicas.one') : say('redis.replicas.many', count);
}
