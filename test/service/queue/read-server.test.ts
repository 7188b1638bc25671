import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { connectProducer, type RedisConnection } from '../../../src/service/queue/connection.ts';
import { readServer } from '../../../src/service/queue/read-server.ts';
import { startRedis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

async function connect(t: TestContext, args: readonly string[] = []): Promise<RedisConnection> {
  const redis = await startRedis({ args, maxmemory: '64mb' });
  const connection = connectProducer(redis.url);
  connection.on('error', () => undefined);
  t.after(async () => {
    connection.disconnect();
    await redis.stop();
  });
  await waitFor('the connection', () => connection.ping());
  return connection;
}

test('the facts about Redis contain its INFO, its settings and the skew of its clock', async (t) => {
  const { info, settings, aheadMs, toleranceMs } = await readServer(await connect(t), '{x}', Date.now);
  assert.deepEqual(
    [info['aof_enabled'], info['maxmemory_policy'], info['role'], settings?.['appendfsync']],
    ['1', 'noeviction', 'master', 'no'],
  );
  assert.ok(Math.abs(aheadMs) <= toleranceMs + 50, `${aheadMs} ± ${toleranceMs}`);
});

test('a clock that is an hour ahead of Redis is measured', async (t) => {
  const { aheadMs, toleranceMs } = await readServer(await connect(t), '{x}', () => Date.now() + 3_600_000);
  assert.ok(Math.abs(aheadMs + 3_600_000) <= toleranceMs + 50, `${aheadMs} ± ${toleranceMs}`);
});

for (const [what, args] of [
  ['has removed', ['--rename-command', 'CONFIG', '']],
  ['forbids', ['--user', 'default', 'on', 'nopass', '~*', '&*', '+@all', '-config']],
] as const)
  test(`a Redis that ${what} CONFIG is read without its settings`, async (t) => {
    const { info, settings } = await readServer(await connect(t, args), '{x}', Date.now);
    assert.equal(settings, undefined);
    assert.equal(info['aof_enabled'], '1');
  });
