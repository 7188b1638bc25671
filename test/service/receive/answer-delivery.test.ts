import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundWaiting } from '../../../src/service/receive/answer-delivery.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { digest, post, push } from './post.ts';
import { startApp } from './start-app.ts';

test('while Redis hangs, deliveries that would need too much memory are answered 503 at once, and the others wait', async (t) => {
  const { promise: hang, resolve: goOn } = Promise.withResolvers<void>();
  const world = await startApp(t, {}, { storePushes: (events) => hang.then(() => events), confirmWithinMs: 600_000 });
  const body = JSON.stringify({ ...push(), padding: 'x'.repeat(1_000_000) });
  const statuses: number[] = [];
  const deliveries = Array.from({ length: 100 }, async () => {
    const { statusCode, headers } = await post(world, { body });
    statuses.push(statusCode);
    if (statusCode === 503) assert.ok(Number(headers['retry-after']) > 0);
  });
  await waitFor('the refusals', () => statuses.length > 30);
  assert.deepEqual([...new Set(statuses)], [503]);
  assert.equal((await post(world, { headers: { authorization: 'Bearer wrong' } })).statusCode, 401, 'strangers never wait');
  goOn();
  await Promise.all(deliveries);
  const accepted = statuses.filter((status) => status === 202).length;
  assert.ok(accepted >= 60 && accepted < 70, `${accepted} waited`);
  assert.equal((await post(world, { body })).statusCode, 202, 'and there is room again');
});

test('thousands of small deliveries can wait at once, few with many pushes, and one of any size', () => {
  const admitted = (size: Parameters<ReturnType<typeof boundWaiting>>[0]) => {
    const start = boundWaiting();
    let count = 0;
    while (start(size) !== undefined) count++;
    return count;
  };
  const [small, many] = [admitted({ bodyBytes: 500, pushes: 1 }), admitted({ bodyBytes: 60_000, pushes: 1_000 })];
  assert.ok(small > 4_000 && small < 10_000, String(small));
  assert.ok(many > 10 && many < 100, String(many));
  assert.equal(admitted({ bodyBytes: 100_000_000, pushes: 1 }), 1);
});

const scan = () => ({ ...push(), type: 'SCANNING_COMPLETED' });

test('with waitForScan, a push waits for ten minutes at most, and the end of a scan is passed on', async (t) => {
  const world = await startApp(t, { waitForScan: true });
  assert.equal((await post(world, { body: JSON.stringify(push()) })).statusCode, 202);
  assert.equal(world.stored[0]?.waitsUntil, '2026-03-01T12:10:00.000Z');
  const answer = await post(world, { body: JSON.stringify(scan()) });
  assert.deepEqual([answer.statusCode, answer.json()], [200, { accepted: [], ignored: [] }]);
  const [ended] = world.scans;
  assert.deepEqual([ended?.receiver, ended?.repository, world.stored.length], ['prod', world.stored[0]?.repository, 1]);
});

test('without waitForScan, no push waits, and a scan is ignored with its name', async (t) => {
  const world = await startApp(t);
  await post(world, { body: JSON.stringify(push()) });
  const answer = await post(world, { body: JSON.stringify(scan()) });
  assert.deepEqual([world.stored[0]?.waitsUntil, answer.statusCode, world.scans], [undefined, 200, []]);
  assert.deepEqual(
    answer.json<{ ignored: { reason: string }[] }>().ignored.map(({ reason }) => reason),
    ['not a push: SCANNING_COMPLETED'],
  );
});

test('the report of a completed scan is stored for policies even without waitForScan, and a failed scan has no report', async (t) => {
  for (const waitForScan of [false, true]) {
    const world = await startApp(t, { waitForScan });
    assert.equal((await post(world, { body: JSON.stringify({ ...scan(), type: 'SCANNING_FAILED' }) })).statusCode, 200);
    assert.deepEqual(world.reports, []);
    assert.equal((await post(world, { body: JSON.stringify(scan()) })).statusCode, 200);
    const repository = { registry: 'harbor.example.com', path: 'shop/web' };
    assert.deepEqual(world.reports, [{ receiver: 'prod', repository, tag: '1.2.3', digest, hasReport: true }]);
    assert.equal((await post(world, { body: JSON.stringify(scan()), headers: { authorization: 'Bearer wrong' } })).statusCode, 401);
    assert.equal(world.reports.length, 1);
  }
  const failing = await startApp(t, {}, { storeScans: () => Promise.reject(new Error('Redis is gone')) });
  assert.equal((await post(failing, { body: JSON.stringify(scan()) })).statusCode, 503);
});

test('a scan that Redis does not store is refused, so that the sender repeats it', async (t) => {
  const endScan = () => Promise.reject(new Error('Redis is gone'));
  const world = await startApp(t, { waitForScan: true }, { endScan });
  assert.equal((await post(world, { body: JSON.stringify(scan()) })).statusCode, 503);
});
