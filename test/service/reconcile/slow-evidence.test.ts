/** Sources of evidence that take minutes: nothing else about the policy waits for them, and what they have answered is used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOf } from '../../core/model/samples.ts';
import { minute, scanOf, startVulnerable, waits } from './vulnerable-world.ts';
import { image, setWorkload } from './world.ts';

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

/** A push of 1.3.0, a fix of 1.2.3; while it waits for the mutex of its policy, something happens. */
async function startPush(start: ReturnType<typeof startVulnerable>, happens: () => void) {
  const { world, evidence, asked, push } = start;
  evidence.set(digestOf('b'), scanOf([]));
  let pushed: ReturnType<typeof push> = Promise.resolve(undefined);
  await world.ports.policies.mutex.run('shop/web', async () => {
    pushed = push('1.3.0', 'b');
    await until(() => asked.length === 2);
    happens();
  });
  return { pushed };
}

test('a source of evidence that hangs blocks neither another push nor a rollback of the policy', { timeout: 60_000 }, async () => {
  const start = startVulnerable(waits.minAge);
  const { world, hanging, asked, push, act } = start;
  const { promise, resolve } = Promise.withResolvers<void>();
  hanging.set(digestOf('d'), promise);
  const { pushed } = await startPush(start, () => setWorkload(world, { web: `${image}:1.2.2@${digestOf('d')}` }));
  await until(() => asked.includes(digestOf('d')));
  assert.equal((await push('1.2.1', 'e'))?.kind, 'unchanged');
  await act({ rollbackTo: '1.2.3' });
  const { lastHandledRollback, history } = world.statusOf('web');
  assert.deepEqual(
    [lastHandledRollback, history?.map(({ trigger, tag }) => `${trigger} ${tag}`).slice(0, 2)],
    ['1.2.3', ['TargetChange 1.3.0', 'Rollback 1.2.3']],
  );
  resolve();
  assert.equal((await pushed)?.kind, 'unchanged');
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('evidence that took long to read is used, and the registry is asked again', async () => {
  const { world, evidence, hanging, asked, push, at } = startVulnerable(waits.minAge);
  evidence.set(digestOf('b'), scanOf([]));
  const { promise, resolve } = Promise.withResolvers<void>();
  hanging.set(digestOf('b'), promise);
  const pushed = push('1.3.0', 'b');
  await until(() => asked.length === 2);
  at(minute);
  const before = world.requests.length;
  resolve();
  await pushed;
  assert.deepEqual([asked.toSorted(), world.images()], [[digestOf('a'), digestOf('b')], [`${image}:1.3.0`]]);
  assert.ok(world.requests.slice(before).includes('HEAD 1.3.0'));
});

test('known evidence is not read again when another container has changed', async () => {
  const start = startVulnerable(waits.minAge);
  const { world, asked } = start;
  const { pushed } = await startPush(start, () => setWorkload(world, { web: `${image}:1.2.3`, proxy: 'other.example.com/proxy:2' }));
  await pushed;
  assert.deepEqual([asked.length, world.images()[0]], [2, `${image}:1.3.0`]);
});

test('evidence of a policy that is busy all the time is read five times, and then by the next attempt', async () => {
  const { world, evidence, asked, push, at } = startVulnerable(waits.minAge);
  evidence.set(digestOf('b'), scanOf([]));
  const { mutex } = world.ports.policies;
  const run = mutex.run.bind(mutex);
  let minutes = 0;
  mutex.run = (key, work) => {
    at(++minutes * minute);
    return run(key, work);
  };
  await assert.rejects(push('1.3.0', 'b'), /changed during 5 attempts in a row: the vulnerabilities that it has to know/);
  assert.deepEqual([asked.length, world.images()], [10, [`${image}:1.2.3`]]);
});

test('evidence of the former image is not used for an image that runs since, whose own evidence is read', async () => {
  const start = startVulnerable(waits.minAge);
  const { world, evidence, asked } = start;
  evidence.set(digestOf('d'), scanOf([]));
  const { pushed } = await startPush(start, () => setWorkload(world, { web: `${image}:1.2.2@${digestOf('d')}` }));
  assert.equal((await pushed)?.kind, 'waiting');
  assert.deepEqual([asked.slice(2), world.images()], [[digestOf('d')], [`${image}:1.2.2@${digestOf('d')}`]]);
});
