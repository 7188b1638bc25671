/** Redis answers late, as with a busy disk, or not at all for a while: what senders are answered, and what is stored in the end. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { askRedis, startRedis } from '../../harness/redis.ts';
import { resend } from '../../harness/resend.ts';
import { startService } from '../../harness/service.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { push } from './post.ts';

/** A receiver that nobody needs to sign for, and its Redis. */
async function start(t: TestContext, listen: Record<string, unknown> = {}) {
  const redis = await startRedis({ args: ['--enable-debug-command', 'local'] });
  const receivers = [{ name: 'prod', provider: 'harbor', unauthenticated: true }];
  const service = await startService({ redisUrl: redis.url, roles: 'receive', config: { receivers }, listen });
  t.after(async () => {
    redis.thaw();
    await service.stop();
    await redis.stop();
  });
  const deliver = async (tag: string) => {
    const body = JSON.stringify(push(tag));
    const response = await fetch(`${service.publicUrl}/webhooks/prod`, { method: 'POST', body });
    const { accepted = [] } = (await response.json()) as { accepted?: { id: string }[] };
    return { status: response.status, retryAfter: response.headers.get('retry-after'), ids: accepted.map(({ id }) => id) };
  };
  const stored = async () => {
    const reply = await askRedis(redis.port, 'LRANGE {image-watcher}:push:wait 0 -1');
    return reply.split('\r\n').filter((line) => /^[0-9a-f]{64}$/.test(line));
  };
  return { redis, service, deliver, stored };
}

test(
  'while Redis occasionally waits a second for its disk, every push is accepted and the receiver stays ready',
  { timeout: 120_000 },
  async (t) => {
    const { redis, service, deliver, stored } = await start(t, { confirmWithin: '10s' });
    const accepted: string[] = [];
    for (const round of ['a', 'b', 'c']) {
      // As when it waits for its disk, Redis does nothing else meanwhile.
      const stall = askRedis(redis.port, 'DEBUG SLEEP 1');
      const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => deliver(`1.0.${index}-${round}`)));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
      assert.equal((await fetch(`${service.operationsUrl}/readyz`)).status, 200);
      accepted.push(...answers.flatMap(({ ids }) => ids));
      assert.match(await stall, /\+OK/);
    }
    assert.equal(new Set(accepted).size, 60);
    assert.deepEqual((await stored()).sort(), accepted.sort());
  },
);

test('while Redis hangs, ignored pushes are answered as usual, and counted as not recorded', { timeout: 120_000 }, async (t) => {
  const { redis, service } = await start(t);
  const send = (name: string) => {
    const body = JSON.stringify({ ...push(), type: name });
    return fetch(`${service.publicUrl}/webhooks/prod`, { method: 'POST', body });
  };
  const written = async () => Number(/:(\d+)/.exec(await askRedis(redis.port, 'ZCARD {image-watcher}:events:ignored'))?.[1]);
  assert.equal((await send('PULL_ARTIFACT')).status, 200);
  await waitFor('the record', async () => (await written()) === 1);
  redis.freeze();
  const statuses = await Promise.all(Array.from({ length: 200 }, async (_, index) => (await send(`EVENT_${index}`)).status));
  assert.deepEqual([...new Set(statuses)], [200]);
  await waitFor('the records to be given up', async () => {
    const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    return Number(/ignored_pushes_not_recorded_total\{receiver="prod",provider="harbor",why="redis"\} (\d+)/.exec(text)?.[1]) > 0;
  });
  redis.thaw();
  await waitFor('new ones to be recorded', async () => {
    await send(`AGAIN`);
    return (await written()) > 1;
  });
});

test(
  'a hanging Redis causes 503 after the timeout and recovers by itself, and a repeated delivery is stored once',
  { timeout: 120_000 },
  async (t) => {
    const { redis, deliver, stored } = await start(t, { confirmWithin: '1s' });
    assert.equal((await deliver('1.0.0')).status, 202);
    redis.freeze();
    const refused = await Promise.all([deliver('2.0.0'), deliver('2.0.1')]);
    for (const { status, retryAfter } of refused) assert.deepEqual([status, Number(retryAfter) > 0], [503, true]);
    redis.thaw();
    const again = await Promise.all(['2.0.0', '2.0.1'].map((tag) => resend(() => deliver(tag))));
    const lastDelivery = await resend(() => deliver('3.0.0'));
    const ids = [...again, lastDelivery].flatMap(({ ids }) => ids);
    await waitFor('the pushes to be stored', async () => (await stored()).length >= 4);
    const inQueue = await stored();
    assert.equal(inQueue.length, 4, 'a write whose confirmation came too late is the same job');
    for (const id of ids) assert.equal(inQueue.filter((one) => one === id).length, 1);
  },
);
