import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { findRedis } from './binaries.ts';
import { makeKubeKeys } from './kube-keys.ts';
import { askRedis, probeMs, startRedis, type Redis } from './redis.ts';
import { startServer } from './server.ts';
import { tempFolder } from './temp-folder.ts';
import { waitFor } from './wait-for.ts';

/** A Redis with replicas, and a Sentinel that promotes one of them when it is gone. */
export type RedisGroup = {
  /** The URL as the configuration wants it: the host is the name of the group. */
  readonly url: string;
  /** The Sentinel. */
  readonly sentinel: string;
  /** The first one is the master at the start. */
  readonly servers: readonly [Redis, Redis, Redis];
  /** The server that takes writes, by its own word. */
  master(): Promise<Redis>;
  stop(): Promise<void>;
};

const name = 'main';

/** Starts a master, two replicas that have all of it, and one Sentinel that alone decides. */
export async function startRedisGroup(): Promise<RedisGroup> {
  const first = await startRedis();
  const follow = ['--replicaof', '127.0.0.1', String(first.port), '--repl-diskless-sync-delay', '0'];
  const servers: [Redis, Redis, Redis] = [first, await startRedis({ args: follow }), await startRedis({ args: follow })];
  await waitFor('both replicas to follow', async () =>
    /connected_slaves:2\r/.test(await askRedis(first.port, 'INFO replication', probeMs)),
  );
  const file = join(tempFolder('sentinel'), 'sentinel.conf');
  const rules = [
    `sentinel monitor ${name} 127.0.0.1 ${first.port} 1`,
    `sentinel down-after-milliseconds ${name} 3000`,
    `sentinel failover-timeout ${name} 5000`,
    `sentinel parallel-syncs ${name} 2`,
  ];
  const sentinel = await startServer({
    name: 'redis-sentinel',
    command: await findRedis(),
    portCount: 1,
    args: ([port]) => {
      writeFileSync(file, [`port ${port}`, 'bind 127.0.0.1', ...rules, ''].join('\n'));
      return [file, '--sentinel'];
    },
    isReady: async ([port], pid) => {
      const reply = await askRedis(port as number, 'INFO', probeMs);
      return reply.includes(`process_id:${pid}\r`) && /^master0:name=main,status=ok,.*slaves=2,/m.test(reply);
    },
  });
  const isMaster = async ({ port }: Redis) => /^role:master\r/m.test(await askRedis(port, 'INFO replication', probeMs).catch(() => ''));
  return {
    url: `redis://${name}`,
    sentinel: `127.0.0.1:${sentinel.ports[0]}`,
    servers,
    async master() {
      const known = await askRedis(sentinel.ports[0] as number, `SENTINEL GET-MASTER-ADDR-BY-NAME ${name}`);
      const server = servers.find(({ port }) => known.includes(`${port}`));
      if (server === undefined || !(await isMaster(server))) throw new Error('the group has no master at present');
      return server;
    },
    async stop() {
      await sentinel.stop();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** A Redis and its Sentinel that both speak TLS alone. */
export type SecureRedis = Pick<RedisGroup, 'url' | 'sentinel' | 'stop'> & {
  /** Whom a client has to trust. */
  readonly caPem: string;
};

/** Starts them, with certificates of their own for 127.0.0.1. */
export async function startSecureRedis(): Promise<SecureRedis> {
  const dir = tempFolder('secure-redis');
  const { caPem, files } = await makeKubeKeys(dir);
  const tls = { cert: files.serverCertificate, key: files.serverKey, 'ca-cert': files.ca };
  const directives = [
    ...Object.entries(tls).map(([name, file]) => `tls-${name}-file ${file}`),
    'tls-auth-clients no',
    'tls-replication yes',
  ];
  const ask = (port: number, command: string) =>
    askRedis(port, command, probeMs, (onOpen) => connectTls({ port, host: '127.0.0.1', ca: caPem }, onOpen));
  const start = async (what: 'redis' | 'sentinel', lines: readonly string[], isReady: (reply: string) => boolean) => {
    const file = join(dir, `${what}.conf`);
    return startServer({
      name: `${what}-tls`,
      command: await findRedis(),
      portCount: 1,
      args: ([port]) => {
        writeFileSync(file, [`tls-port ${port}`, 'port 0', 'bind 127.0.0.1', `dir ${dir}`, ...directives, ...lines, ''].join('\n'));
        return [file, ...(what === 'sentinel' ? ['--sentinel'] : [])];
      },
      isReady: async ([port], pid) => {
        const reply = await ask(port as number, 'INFO');
        return reply.includes(`process_id:${pid}\r`) && isReady(reply);
      },
    });
  };
  const redis = await start('redis', ['save ""'], (reply) => reply.includes('loading:0'));
  const rules = [`sentinel monitor ${name} 127.0.0.1 ${redis.ports[0]} 1`];
  const sentinel = await start('sentinel', rules, (reply) => /^master0:name=main,status=ok,/m.test(reply));
  return {
    url: `rediss://${name}`,
    sentinel: `127.0.0.1:${sentinel.ports[0]}`,
    caPem,
    async stop() {
      await sentinel.stop();
      await redis.stop();
    },
  };
}
