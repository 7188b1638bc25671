/** The service over Sentinel and Cluster: what a failover costs with and without replicas that confirm. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runCommand } from '../cli/run-command.ts';
import { pushImage } from '../harness/push-image.ts';
import { startRedisCluster } from '../harness/redis-cluster.ts';
import { startRedisGroup } from '../harness/redis-sentinel.ts';
import { askRedis } from '../harness/redis.ts';
import { waitFor } from '../harness/wait-for.ts';
import {
  assertPatchedTimes,
  deliver,
  deliverOnce,
  deliverUntilAccepted,
  harborBody,
  startWorld,
  type Service,
  type World,
} from './world.ts';

describe('a failover of Redis', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const push = (name: string, tag: string) => pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: tag });
  const image = (name: string, tag = '1.0.1') => `${world.quiet.host}/shop/${name}:${tag}`;
  const bodyOf = (name: string, tag = '1.0.1') => harborBody(world.quiet.host, `shop/${name}`, [{ tag }]);
  const prepare = async (name: string, extra: object = {}) => {
    await push(name, '1.0.0');
    await world.createDeployment(name, image(name, '1.0.0'));
    await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' }, extra);
    await world.waitForFirstLook(name);
    await push(name, '1.0.1');
  };
  const waitingAt = async (port: number) => (await askRedis(port, 'EXISTS {image-watcher}:push:wait')).trim();

  it('of Sentinel before a replica has a push: never acknowledged with minReplicas 1, otherwise lost and found by the poll', async () => {
    const group = await startRedisGroup();
    const redis = { url: group.url, sentinels: [group.sentinel] };
    const started: Service[] = [];
    try {
      const careful = await world.start({ roles: 'receive', config: { redis: { ...redis, minReplicas: 1 } } });
      const careless = await world.start({ roles: 'receive', config: { redis } });
      const worker = await world.start({ roles: 'work', config: { redis } });
      started.push(careful, careless, worker);
      await prepare('unconfirmed', { poll: { interval: '5s' } });
      // Nobody may do the work before the failover.
      await worker.stop();
      const master = await waitFor('the master', () => group.master());
      const replicas = group.servers.filter((server) => server !== master);
      for (const replica of replicas) replica.freeze();
      // What arrived in the meantime they would read when they thaw.
      await askRedis(master.port, 'CLIENT KILL TYPE replica');
      assert.equal((await deliverOnce(careful, bodyOf('confirmed'))).status, 503);
      assert.equal((await deliver(careless, bodyOf('unconfirmed'))).status, 202);
      assert.equal(await waitingAt(master.port), ':1');
      await master.kill9();
      for (const replica of replicas) replica.thaw();
      const newMaster = await waitFor('another master', async () => (await group.master()) !== master && group.master());
      assert.equal(await waitingAt(newMaster.port), ':0', 'it was on no replica');
      await worker.restart();
      assertPatchedTimes(await world.waitForImage('unconfirmed', image('unconfirmed')), 1);
      await push('unconfirmed', '1.0.2');
      await deliverUntilAccepted(bodyOf('unconfirmed', '1.0.2'), careful);
      await world.waitForImage('unconfirmed', image('unconfirmed', '1.0.2'));
    } finally {
      await Promise.all(started.map((service) => service.stop()));
      await group.stop();
    }
  });

  /** What doctor finds about Redis, line by line. */
  const examine = async (service: Service) => {
    const target = ['--server', service.operationsUrl, '--insecure', '--kubeconfig', world.cluster.kubeconfigPath];
    const { out } = await runCommand('doctor', [...target, '-o', 'json']);
    const { findings } = JSON.parse(out) as { findings: { line: string; level: string; message: string }[] };
    return new Map(findings.filter(({ line }) => /redis/.test(line)).map(({ line, level, message }) => [line, `${level}: ${message}`]));
  };

  /** A report is shared for 20 s, so that a change shows with a later one. */
  const reportWith = (service: Service, replicas: string) =>
    waitFor(
      replicas,
      async () => {
        const found = await examine(service);
        return found.get('redis/replicas') === replicas && found;
      },
      { intervalMs: 1_000 },
    );

  it('leaves doctor with the server that takes the writes: of Sentinel, before and after', async () => {
    const group = await startRedisGroup();
    let service: Service | undefined;
    try {
      service = await world.start({ config: { redis: { url: group.url, sentinels: [group.sentinel], minReplicas: 1 } } });
      const before = await reportWith(service, 'ok: 2 replicas are up to date');
      assert.match(before.get('redis/answers') ?? '', /^ok: Redis \d/);
      assert.match(before.get('redis/maxmemory-policy') ?? '', /^ok: /);
      assert.match(before.get('clock/redis') ?? '', /^ok: /);
      const master = await waitFor('the master', () => group.master());
      await master.kill9();
      await waitFor('another master', async () => (await group.master()) !== master);
      const after = await reportWith(service, 'ok: 1 replica is up to date');
      assert.match(after.get('redis/answers') ?? '', /^ok: /);
    } finally {
      await service?.stop();
      await group.stop();
    }
  });

  it('leaves doctor with the node of a Cluster that has the queue', async () => {
    const cluster = await startRedisCluster('{image-watcher}');
    let service: Service | undefined;
    try {
      service = await world.start({ config: { redis: { url: cluster.url, cluster: true } } });
      const found = await examine(service);
      for (const line of ['redis/answers', 'redis/maxmemory-policy', 'clock/redis']) assert.match(found.get(line) ?? '', /^ok: /, line);
    } finally {
      await service?.stop();
      await cluster.stop();
    }
  });

  it('of a Cluster: pushes, polls, records and limits continue at the other node', async () => {
    const cluster = await startRedisCluster('{image-watcher}');
    let service: Service | undefined;
    try {
      service = await world.start({ config: { redis: { url: cluster.url, cluster: true } } });
      await prepare('clustered', { poll: { interval: '5s' } });
      await deliverUntilAccepted(bodyOf('clustered'), service);
      assertPatchedTimes(await world.waitForImage('clustered', image('clustered')), 1);
      const old = await cluster.ownerOf('{image-watcher}');
      await old.kill9();
      const newMaster = await waitFor('the replica to take over', async () => {
        const owner = await cluster.ownerOf('{image-watcher}');
        return owner !== old && owner;
      });
      await push('clustered', '1.0.2');
      await deliverUntilAccepted(bodyOf('clustered', '1.0.2'), service);
      await world.waitForImage('clustered', image('clustered', '1.0.2'));
      // Announced by nobody.
      await push('clustered', '1.0.3');
      await world.waitForImage('clustered', image('clustered', '1.0.3'));
      await waitFor('the record of both pushes', async () =>
        (await askRedis(newMaster.ports[0] as number, 'ZCARD {image-watcher}:events')).startsWith(':2'),
      );
    } finally {
      await service?.stop();
      await cluster.stop();
    }
  });
});
