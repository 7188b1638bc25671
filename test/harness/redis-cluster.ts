import { randomUUID } from 'node:crypto';
import { findRedis } from './binaries.ts';
import { flags } from './flags.ts';
import { askRedis, probeMs } from './redis.ts';
import { startServer, type Server } from './server.ts';
import { tempFolder } from './temp-folder.ts';
import { waitFor } from './wait-for.ts';

/** A Redis Cluster. */
export type RedisCluster = {
  /** Of one of its nodes. */
  readonly url: string;
  /** The node that has a key, by the word of the others. */
  ownerOf(key: string): Promise<Server>;
  stop(): Promise<void>;
};

/** Three masters that share the slots, and a replica for the one that has `key`, which takes over when that one is silent for `nodeTimeoutMs`. */
export async function startRedisCluster(key: string, { nodeTimeoutMs = 5_000 } = {}): Promise<RedisCluster> {
  const nodes = await Promise.all(Array.from({ length: 4 }, () => startNode(nodeTimeoutMs)));
  const [first, second, third, replica] = nodes as [Server, Server, Server, Server];
  const masters = [first, second, third];
  const runOn = async (node: Server, command: string) => {
    const reply = await askRedis(node.ports[0] as number, command);
    if (reply.startsWith('-')) throw new Error(`${command}: ${reply}`);
    return reply;
  };
  const slots = ['0 5460', '5461 10922', '10923 16383'];
  // Nodes that meet with the same epoch settle that first, and elect nobody meanwhile.
  for (const [index, node] of nodes.entries()) await runOn(node, `CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
  await Promise.all(masters.map((node, index) => runOn(node, `CLUSTER ADDSLOTSRANGE ${slots[index]}`)));
  for (const node of [second, third, replica]) await runOn(first, `CLUSTER MEET 127.0.0.1 ${node.ports[0]} ${node.ports[1]}`);
  const all = async (text: RegExp, command = 'CLUSTER INFO') => {
    const replies = await Promise.all(nodes.map((node) => runOn(node, command)));
    return replies.every((reply) => text.test(reply));
  };
  await waitFor('the nodes to know each other', async () => (await all(/cluster_state:ok/)) && all(/cluster_known_nodes:4/));

  const slotOf = async () => Number((await runOn(first, `CLUSTER KEYSLOT ${key}`)).replace(':', ''));
  const slot = await slotOf();
  const owner = slot <= 5_460 ? first : slot <= 10_922 ? second : third;
  const id = /([0-9a-f]{40})/.exec(await runOn(owner, 'CLUSTER MYID'))?.[1];
  await runOn(replica, `CLUSTER REPLICATE ${id}`);
  await waitFor('the replica to follow', async () => /connected_slaves:1\r.*state=online/s.test(await runOn(owner, 'INFO replication')));
  await waitFor('all nodes to know of the replica', () => all(new RegExp(`slave ${id}`), 'CLUSTER NODES'));
  return {
    url: `redis://127.0.0.1:${first === owner ? second.ports[0] : first.ports[0]}`,
    async ownerOf() {
      const living = owner === first ? second : first;
      const lines = (await runOn(living, 'CLUSTER NODES')).split('\n');
      const ports = lines.filter((line) => /master -/.test(line) && !/fail/.test(line)).map((line) => [line, /:(\d+)@/.exec(line)?.[1]]);
      const found = ports.find(([line = '']) =>
        [...line.matchAll(/ (\d+)-(\d+)/g)].some(([, a, b]) => Number(a) <= slot && slot <= Number(b)),
      );
      const server = nodes.find((node) => String(node.ports[0]) === found?.[1]);
      if (server === undefined) throw new Error('nobody has the slot at present');
      return server;
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

async function startNode(nodeTimeoutMs: number): Promise<Server> {
  const dir = tempFolder('redis-cluster');
  const mark = randomUUID();
  return startServer({
    name: 'redis-cluster',
    command: await findRedis(),
    portCount: 2,
    args: ([port, bus]) => [
      ...flags({ port, bind: '127.0.0.1', dir, appendonly: 'yes', appendfsync: 'no', save: '', 'maxmemory-policy': 'noeviction' }),
      // By default the port of the bus is 10,000 higher, which many free ports are too high for.
      ...flags({
        'cluster-enabled': 'yes',
        'cluster-port': bus,
        'cluster-node-timeout': nodeTimeoutMs,
        'cluster-config-file': `${mark}.conf`,
      }),
    ],
    isReady: async ([port], pid) => (await askRedis(port as number, 'INFO', probeMs)).includes(`process_id:${pid}\r`),
  });
}
