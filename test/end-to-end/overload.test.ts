/** More pushes than workers do and Redis keeps: refused in time, and all goes on by itself. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { askRedis } from '../harness/redis.ts';
import { waitFor } from '../harness/wait-for.ts';
import { assertPatchedTimes, deliverUntilAccepted, harborBody, secret, startWorld, type Service, type World } from './world.ts';

/** Room for some ten thousand pushes: in less, what workers leave behind for each of them would count. */
const roomBytes = 16_000_000;
/** Node and the program alone take half of it. */
const maxRssBytes = 600_000_000;

describe('overload', () => {
  let world: World;
  let receiver: Service;
  before(async () => {
    world = await startWorld();
    receiver = await world.start({ roles: 'receive' });
  });
  after(() => world.stop());

  const memory = async (field: string) => {
    const info = await askRedis(world.redis.port, 'INFO memory');
    return Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(info)?.[1]);
  };
  let sent = 0;
  const post = async (to = receiver) => {
    const tags = Array.from({ length: 50 }, () => ({ tag: `1.0.${++sent}` }));
    const body = harborBody(world.quiet.host, 'flood/app', tags);
    const response = await fetch(`${to.publicUrl}/webhooks/harbor`, { method: 'POST', headers: { authorization: secret }, body });
    await response.arrayBuffer();
    return response;
  };
  const metricsOf = async ({ operationsUrl }: Service) => (await fetch(`${operationsUrl}/metrics`)).text();
  const rss = async () => Number(/^process_resident_memory_bytes (\S+)$/m.exec(await metricsOf(receiver))?.[1]);

  it('of a queue without workers: deliveries are refused before Redis is full, with Retry-After', async () => {
    await askRedis(world.redis.port, `CONFIG SET maxmemory ${(await memory('used_memory')) + roomBytes}`);
    // Limits are expected to be there from the start: a receiver hears of a new one within a second, in which this flood is over.
    const isLimitKnown = async () => /^image_watcher_redis_memory_share 0\.\d+$/m.test(await metricsOf(receiver));
    await waitFor('the receiver to know the limit', isLimitKnown);
    const refusals: Response[] = [];
    const others = new Set<number>();
    const flood = async () => {
      while (refusals.length < 50) {
        const response = await post();
        if (response.status === 503) refusals.push(response);
        else others.add(response.status);
      }
    };
    await Promise.all(Array.from({ length: 16 }, flood));
    assert.deepEqual([...others], [202]);
    assert.ok(refusals.every((response) => Number(response.headers.get('retry-after')) > 0));
    assert.ok((await memory('used_memory')) < (await memory('maxmemory')));
    assert.ok((await rss()) < maxRssBytes, `${await rss()} bytes`);
    // What was written last may still keep Redis from answering in time.
    await waitFor('readiness', async () => (await fetch(`${receiver.operationsUrl}/readyz`)).status === 200);
  });

  it('ends when workers return: all accepted pushes are processed, and new ones are accepted and applied', async () => {
    const { host } = world.quiet;
    // What runs is higher than all that was pushed: a record is what each of them leaves, and together they need more room than there is.
    await pushImage({ host, repository: 'flood/app', tag: '2.0.0' });
    await world.createDeployment('flood', `${host}/flood/app:2.0.0`);
    await world.createPolicy('flood', `${host}/flood/app`, { strategy: 'SemVer' });
    await pushImage({ host, repository: 'shop/after', tag: '1.0.0' });
    await world.createDeployment('after', `${host}/shop/after:1.0.0`);
    await world.createPolicy('after', `${host}/shop/after`, { strategy: 'SemVer' });
    const worker = await world.start({ roles: 'work' });
    const isRoom = () => post().then(({ status }) => status === 202);
    await waitFor('room in Redis', isRoom, { intervalMs: 200 });
    await world.waitForFirstLook('after');
    await pushImage({ host, repository: 'shop/after', tag: '1.0.1', content: 'new' });
    await deliverUntilAccepted(harborBody(host, 'shop/after', [{ tag: '1.0.1' }]), receiver);
    assertPatchedTimes(await world.waitForImage('after', `${host}/shop/after:1.0.1`), 1);
    const isDrained = async () => (await askRedis(world.redis.port, 'LLEN {image-watcher}:push:wait')).startsWith(':0');
    await waitFor('the queue to be empty', isDrained);
    assertPatchedTimes(await world.readDeployment('flood'), 0);
    await worker.stop();
  });

  it('of two receivers that are flooded simultaneously: both can still shut down', async () => {
    const secondReceiver = await world.start({ roles: 'receive' });
    let answered = 0;
    const flooding = Array.from({ length: 16 }, async (_, index) => {
      const isAnswered = () =>
        post(index % 2 ? secondReceiver : receiver).then(
          () => true,
          () => false,
        );
      while (await isAnswered()) answered++;
    });
    await waitFor('the flood', () => answered > 100);
    // As long as Kubernetes waits, and a slow machine besides.
    await Promise.all([secondReceiver.stop(60_000), receiver.stop(60_000)]);
    await Promise.all(flooding);
    for (const service of [secondReceiver, receiver]) assert.match(service.logTail(3), /"msg":"stopped"/);
  });
});
