/** Redis fails in the ways that a kill does not show: full, read-only, not durable, without its data. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { askRedis } from '../harness/redis.ts';
import { waitFor } from '../harness/wait-for.ts';
import {
  assertPatchedTimes,
  deliver,
  deliverOnce,
  deliverUntilAccepted,
  harborBody,
  secret,
  startWorld,
  type Service,
  type World,
} from './world.ts';

describe('Redis', () => {
  let world: World;
  let service: Service;
  before(async () => {
    world = await startWorld();
    service = await world.start();
  });
  after(() => world.stop());

  const prepare = async (name: string, extra: object = {}) => {
    const { host } = world.quiet;
    await pushImage({ host, repository: `shop/${name}`, tag: '1.0.0' });
    await world.createDeployment(name, `${host}/shop/${name}:1.0.0`);
    await world.createPolicy(name, `${host}/shop/${name}`, { strategy: 'SemVer' }, extra);
    await world.waitForFirstLook(name);
    await pushImage({ host, repository: `shop/${name}`, tag: '1.0.1', content: name });
  };
  const bodyOf = (name: string) => harborBody(world.quiet.host, `shop/${name}`, [{ tag: '1.0.1' }]);
  const imageOf = (name: string) => `${world.quiet.host}/shop/${name}:1.0.1`;
  const runRedisCommand = async (command: string) => {
    const reply = await askRedis(world.redis.port, command);
    assert.doesNotMatch(reply, /^-/, command);
    return reply;
  };
  const usedMemory = async () => Number(/used_memory:(\d+)/.exec(await runRedisCommand('INFO memory'))?.[1]);
  /** Waits until the receiver has noticed; says how it answered. */
  const waitForAnswer = (status: number, one = service) =>
    waitFor(`webhooks to be answered ${status}`, async () => {
      const headers = { authorization: secret };
      const body = harborBody(world.quiet.host, 'nobody/watches', [{ tag: `${Math.random()}` }]);
      const response = await fetch(`${one.publicUrl}/webhooks/harbor`, { method: 'POST', headers, body });
      await response.arrayBuffer();
      return response.status === status && response;
    });
  const metric = async (name: string) => {
    const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    return Number(new RegExp(`^image_watcher_${name} (.*)$`, 'm').exec(text)?.[1]);
  };

  it('nearly full: receivers refuse, workers finish the queued jobs, and everything resumes when there is room', async () => {
    await prepare('full');
    // The registry hangs, so that the push is still there when the room is used up.
    world.quiet.freeze();
    assert.equal((await deliver(service, bodyOf('full'))).status, 202);
    await runRedisCommand(`CONFIG SET maxmemory ${Math.ceil((await usedMemory()) / 0.9)}`);
    await waitFor('the share to be seen', async () => (await metric('redis_memory_share')) > 0.8);
    const refused = await waitForAnswer(503);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    world.quiet.thaw();
    assertPatchedTimes(await world.waitForImage('full', imageOf('full')), 1);
    await runRedisCommand('CONFIG SET maxmemory 0');
    await waitForAnswer(202);
  });

  it('completely full: nothing that is not stored is answered 202', async () => {
    await prepare('brimful');
    await runRedisCommand('CONFIG SET maxmemory 1');
    await waitForAnswer(503);
    assert.equal((await deliverOnce(service, bodyOf('brimful'))).status, 503);
    await runRedisCommand('CONFIG SET maxmemory 0');
    await deliverUntilAccepted(bodyOf('brimful'), service);
    assertPatchedTimes(await world.waitForImage('brimful', imageOf('brimful')), 1);
  });

  it('a read-only replica: 503 and not ready until it is a primary', async () => {
    await prepare('replica');
    await runRedisCommand('REPLICAOF 127.0.0.1 1');
    await waitForAnswer(503);
    const ready = () => fetch(`${service.operationsUrl}/readyz`);
    const { status, text } = await waitFor('the reason in /readyz', async () => {
      const answer = await ready();
      const body = await answer.text();
      return body.includes('replica') && { status: answer.status, text: body };
    });
    assert.equal(status, 503);
    assert.match(text, /\[-\]redis failed: Redis is a replica and takes no writes/);
    await runRedisCommand('REPLICAOF NO ONE');
    await deliverUntilAccepted(bodyOf('replica'), service);
    assertPatchedTimes(await world.waitForImage('replica', imageOf('replica')), 1);
  });

  it('not durable: reported in log and readiness, refused or ignored if the configuration says so', async () => {
    const configured = (durability: string) => ({ roles: 'receive', config: { redis: { url: world.redis.url, durability } } });
    const [strict, careless] = await Promise.all([world.start(configured('enforce')), world.start(configured('ignore'))]);
    await runRedisCommand('CONFIG SET appendonly no');
    await waitForAnswer(503, strict);
    await waitFor('the metric', async () => (await metric('redis_durable')) === 0);
    await Promise.all([waitForAnswer(202), waitForAnswer(202, careless)]);
    const warning = /"level":"warn".*may lose accepted pushes/;
    await waitFor('the warning', () => warning.test(service.logTail(100_000)));
    await runRedisCommand('CONFIG SET maxmemory-policy allkeys-lru');
    await runRedisCommand('CONFIG SET appendonly yes');
    const why = /maxmemory-policy is allkeys-lru/;
    await waitFor('the other reason', () => why.test(strict.logTail(100_000)));
    await runRedisCommand('CONFIG SET maxmemory-policy noeviction');
    await waitForAnswer(202, strict);
    assert.doesNotMatch(careless.logTail(100_000), warning);
    await Promise.all([strict.stop(), careless.stop()]);
  });

  it('back without its data: the schedulers are restored, and the poll finds what was lost', async () => {
    await prepare('wiped', { poll: { interval: '5s' } });
    const { redis } = world;
    await redis.kill9();
    rmSync(join(redis.dir, 'appendonlydir'), { recursive: true, force: true });
    await redis.restart();
    const { host } = world.quiet;
    await pushImage({ host, repository: 'shop/wiped', tag: '1.0.2', content: 'after' });
    // Nobody announces it: only a poll can have seen it.
    await world.waitForImage('wiped', `${host}/shop/wiped:1.0.2`);
  });
});
