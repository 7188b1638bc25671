import { type Check, failed, type Finding, ok, skipped, warning } from '../finding.ts';

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
    if ('why' in facts)
      return [
        failed('redis/answers', `Redis does not answer: ${facts.why}`, 'check redis.url, the password, and the Redis pod or service'),
      ];
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
  if (info['role'] === 'slave')
    return failed('redis/answers', 'this Redis is a replica and takes no writes', 'point redis.url at the primary, or use redis.sentinels');
  if (info['loading'] === '1')
    return failed('redis/answers', 'Redis is loading its data and accepts nothing yet', 'wait, and run doctor again');
  return ok('redis/answers', `Redis ${info['redis_version'] ?? 'of an unknown version'} answers`);
}

/** The level of a durability problem. With `durability: ignore`, the provider is responsible, so it is only a warning. */
function risk({ durability }: Answered): typeof failed {
  return durability === 'ignore' ? warning : failed;
}

const managed = 'check the durability settings of the managed Redis with its provider';

function appendonly(facts: Answered): Finding {
  const enabled = facts.info['aof_enabled'];
  if (enabled === undefined) return skipped('redis/appendonly', 'this Redis does not say whether appendonly is on', managed);
  if (enabled === '1') return ok('redis/appendonly', 'appendonly is on: accepted pushes survive a restart of Redis');
  const save = facts.settings?.['save'];
  const snapshots = save === undefined || save === '' ? '' : `; snapshots (save ${save}) keep all but what came after the last one`;
  return risk(facts)(
    'redis/appendonly',
    `appendonly is off: a restart of Redis loses accepted pushes${snapshots}`,
    'set appendonly yes in redis.conf, or use a Redis with persistence',
  );
}

function appendfsync({ info, settings }: Answered): Finding {
  const line = 'redis/appendfsync';
  if (info['aof_enabled'] === '0') return skipped(line, 'without appendonly nothing is written to disk');
  if (settings === undefined) return skipped(line, 'this Redis forbids CONFIG, as managed ones do', managed);
  switch (settings['appendfsync']) {
    case 'always':
      return ok(line, 'appendfsync is always: a push is on disk before it is acknowledged');
    case 'everysec':
      return warning(
        line,
        'appendfsync is everysec: a crash of the machine of Redis loses up to a second of accepted pushes',
        'set appendfsync always, unless polls may find what is lost',
      );
    case 'no':
      return failed(
        line,
        'appendfsync is no: a crash of the machine of Redis loses up to half a minute of accepted pushes',
        'set appendfsync always',
      );
    default:
      return skipped(line, 'this Redis does not say what appendfsync is', managed);
  }
}

function maxmemoryPolicy(facts: Answered): Finding {
  const { info, settings } = facts;
  const line = 'redis/maxmemory-policy';
  const policy = info['maxmemory_policy'] ?? settings?.['maxmemory-policy'];
  if (policy === undefined) return skipped(line, 'this Redis does not say what maxmemory-policy is', managed);
  if (policy === 'noeviction') return ok(line, 'maxmemory-policy is noeviction: a full Redis refuses pushes instead of dropping them');
  const evicted = Number(info['evicted_keys'] ?? 0);
  const already = evicted > 0 ? `, and it has dropped ${evicted} keys since its start` : '';
  return risk(facts)(
    line,
    `maxmemory-policy is ${policy}: a full Redis drops accepted pushes${already}`,
    'set maxmemory-policy noeviction, and share this Redis with no cache',
  );
}

function inMiB(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MiB`;
}

function memory({ info, trimFrom, refuseFrom }: Answered): Finding {
  const line = 'redis/memory';
  const limit = Number(info['maxmemory'] ?? 0);
  const used = Number(info['used_memory'] ?? 0);
  if (limit === 0)
    return warning(
      line,
      `maxmemory is not set (${inMiB(used)} are in use): a Redis that grows beyond its container is killed`,
      'set maxmemory to about three quarters of the memory limit of its container',
    );
  const share = used / limit;
  const message = `${Math.round(share * 100)} % of ${inMiB(limit)} are in use`;
  if (share > refuseFrom)
    return failed(line, `${message}: receivers refuse pushes with 503`, 'raise maxmemory, or remove what does not belong to image-watcher');
  if (share > trimFrom) return warning(line, `${message}: records of finished pushes are removed early`, 'raise maxmemory');
  return ok(line, message);
}

const writes = {
  aof_last_write_status: 'the last write of the AOF',
  aof_last_bgrewrite_status: 'the last rewrite of the AOF',
  rdb_last_bgsave_status: 'the last snapshot',
} as const;

function persistence({ info }: Answered): Finding {
  const line = 'redis/persistence';
  const known = Object.entries(writes).filter(([field]) => info[field] !== undefined);
  if (known.length === 0) return skipped(line, 'this Redis does not say whether its writes to disk succeed', managed);
  const errors = known.filter(([field]) => info[field] !== 'ok').map(([, what]) => what);
  if (errors.length === 0) return ok(line, 'writes to disk succeed');
  return failed(line, `${errors.join(' and ')} failed`, 'see the log of Redis: most often its disk is full or its folder is not writable');
}

function replicas({ info, minReplicas }: Answered): Finding {
  const line = 'redis/replicas';
  if (info['connected_slaves'] === undefined) return skipped(line, 'this Redis does not say which replicas it has', managed);
  const lags = Object.entries(info).flatMap(([field, value]) => {
    if (!/^slave\d+$/.test(field)) return [];
    const { state, lag } = Object.fromEntries(value.split(',').map((part) => part.split('=') as [string, string]));
    return state === 'online' ? [Number(lag ?? 0)] : [];
  });
  const current = lags.filter((lag) => lag <= maxLagSeconds);
  if (current.length < minReplicas)
    return failed(
      line,
      `${upToDate(current.length)}, but redis.minReplicas is ${minReplicas}: pushes are refused with 503`,
      'repair the replicas, or lower redis.minReplicas',
    );
  if (current.length < lags.length || lags.length < Number(info['connected_slaves']))
    return warning(
      line,
      `${Number(info['connected_slaves']) - current.length} of ${info['connected_slaves']} replicas lag by more than ${maxLagSeconds} s, or are not online`,
      'check the network between the replicas and their load: a failover to one of them loses pushes',
    );
  return ok(line, lags.length === 0 ? 'no replicas, and redis.minReplicas asks for none' : upToDate(lags.length));
}

function upToDate(count: number): string {
  return count === 1 ? '1 replica is up to date' : `${count} replicas are up to date`;
}
