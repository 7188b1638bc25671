import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createKeyedMutex } from '../../src/async/keyed-mutex.ts';

test('one at a time for a key, in the order of arrival; other keys do not wait', async () => {
  const mutex = createKeyedMutex();
  const log: string[] = [];
  const work = (name: string, turns: number) => async () => {
    log.push(`${name} begins`);
    for (let i = 0; i < turns; i++) await turn();
    log.push(`${name} ends`);
    return name;
  };
  const results = await Promise.all([
    mutex.run('a', work('a1', 5)),
    mutex.run('a', work('a2', 1)),
    mutex.run('b', work('b1', 1)),
    mutex.run('a', work('a3', 0)),
  ]);
  assert.deepEqual(results, ['a1', 'a2', 'b1', 'a3']);
  assert.deepEqual(
    log.filter((line) => line.startsWith('a')),
    ['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends', 'a3 begins', 'a3 ends'],
  );
  assert.ok(log.indexOf('b1 ends') < log.indexOf('a1 ends'));
});

test('what fails is told to its own caller, and the next goes on', async () => {
  const mutex = createKeyedMutex();
  const broken = mutex.run('a', () => Promise.reject(new Error('broken')));
  const next = mutex.run('a', async () => 'fine');
  await assert.rejects(broken, /broken/);
  assert.equal(await next, 'fine');
});
