import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProgress } from '../../../src/service/command-line/progress.ts';

test('a progress line is shown after a second, overwritten, and removed', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const written: string[] = [];
  const clear = '\r\u001B[K';
  const progress = startProgress({ interactive: true, out: assert.fail, err: (text) => void written.push(text) }, 'listing: 1 of 2');
  t.mock.timers.tick(999);
  assert.deepEqual(written, []);
  t.mock.timers.tick(1);
  progress.update('listing: 2 of 2');
  t.mock.timers.tick(250);
  progress.stop();
  t.mock.timers.tick(1_000);
  assert.deepEqual(written, [`${clear}listing: 1 of 2`, `${clear}listing: 2 of 2`, clear]);
});

test('no progress line is shown for work of less than a second, or without a terminal', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const interactive of [true, false]) {
    const progress = startProgress({ interactive, out: assert.fail, err: assert.fail }, 'listing');
    if (interactive) t.mock.timers.tick(500);
    else t.mock.timers.tick(5_000);
    progress.stop();
  }
});
