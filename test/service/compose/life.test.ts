import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Living, liveInOrder } from '../../../src/service/compose/life.ts';

/** Parts that write what happens to them. */
function parts(...names: readonly string[]) {
  const happened: string[] = [];
  const all = names.map((name): Living => ({
    name,
    start: () => void happened.push(`start ${name}`),
    stop: (deadlineMs) => void happened.push(`stop ${name} ${deadlineMs}`),
  }));
  return { all, happened };
}

describe('parts of a process', () => {
  it('start one after the other, and stop in reverse order, each within the remaining time', async () => {
    const { all, happened } = parts('caches', 'queues', 'workers');
    let time = 100;
    const life = liveInOrder(all, () => (time += 2));
    await life.start();
    await life.stop(5);
    assert.deepEqual(happened.slice(0, 3), ['start caches', 'start queues', 'start workers']);
    assert.deepEqual(happened.slice(3), ['stop workers 3', 'stop queues 1', 'stop caches 0']);
  });

  it('do not start after the process has begun to stop, and are stopped even if they were not started', async () => {
    const { all, happened } = parts('caches', 'workers');
    const { promise: listed, resolve } = Promise.withResolvers<void>();
    const life = liveInOrder([{ name: 'slow', start: () => listed, stop: () => void happened.push('stop slow') }, ...all]);
    const starting = life.start();
    await life.stop(0);
    resolve();
    await starting;
    assert.deepEqual(happened, ['stop workers 0', 'stop caches 0', 'stop slow']);
  });
});
