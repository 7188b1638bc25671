/** `redis.minReplicas`: replicas confirm within the same time as everything else. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { connectProducer } from '../../../src/service/queue/connection.ts';
import { createReplicatedWrite } from '../../../src/service/queue/replicated-write.ts';
import { askRedis, startRedis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

/** A master with one replica. */
async function start(t: TestContext) {
  const master = await startRedis();
  const replica = await startRedis();
  const connection = connectProducer(master.url, 60_000);
  connection.on('error', () => undefined);
  t.after(async () => {
    connection.disconnect();
    replica.thaw();
    await Promise.all([replica.stop(), master.stop()]);
  });
  await askRedis(replica.port, `REPLICAOF 127.0.0.1 ${master.port}`);
  const info = (section: string) => askRedis(master.port, `INFO ${section}`);
  await waitFor('the replica', async () => /state=online/.test(await info('replication')));
  const waits = async () => Number(/cmdstat_wait:calls=(\d+)/.exec(await info('commandstats'))?.[1] ?? 0);
  const write = (withinMs: number) => {
    const confirm = createReplicatedWrite(connection, '{p}', { minReplicas: 1, withinMs });
    return (key: string) => confirm(() => connection.set(`{p}:${key}`, 'x'));
  };
  return { replica, connection, waits, write };
}

test('a write is confirmed by a replica that answers late', { timeout: 120_000 }, async (t) => {
  const { replica, waits, write } = await start(t);
  const confirm = write(60_000);
  await confirm('a');
  replica.freeze();
  const late = confirm('b');
  const before = await waits();
  await waitFor('it to be asked for again', async () => (await waits()) >= before + 5);
  replica.thaw();
  await late;
});

test(
  'a write without its replica is refused after the timeout, and a failing replica does not block the connection',
  { timeout: 120_000 },
  async (t) => {
    const { replica, connection, waits, write } = await start(t);
    await write(60_000)('a');
    const confirm = write(500);
    const before = await waits();
    replica.freeze();
    const keys = Array.from({ length: 50 }, (_, index) => String(index));
    const results = await Promise.allSettled(keys.map((key) => confirm(key)));
    for (const result of results) {
      assert.match(String(result.status === 'rejected' && result.reason), /the push reached 0 of 1 Redis replicas in time/);
    }
    assert.ok((await waits()) - before < 20, 'they share their questions');
    assert.equal(await connection.get('{p}:49'), 'x');
  },
);
