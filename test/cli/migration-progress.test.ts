import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportProgress } from '../../src/cli/migration-progress.ts';

const counts = (rewritten: number, refused = 0) => ({
  total: 1_000,
  rewritten,
  unchanged: 0,
  gone: 0,
  refused: Array.from({ length: refused }, () => ({ namespace: 'a', name: 'b', message: 'c' })),
});

function report(style: 'line' | 'lines' | 'json') {
  const written: string[] = [];
  let time = 0;
  const progress = reportProgress({ write: (text) => written.push(text), style, now: () => time });
  return { written, progress, at: (milliseconds: number) => (time = milliseconds) };
}

test('on a terminal one line is drawn anew, and ended', () => {
  const { written, progress, at } = report('line');
  progress.update(counts(1), 1);
  at(100);
  progress.update(counts(50), 1);
  at(500);
  progress.update(counts(100), 1);
  progress.end();
  progress.end();
  assert.deepEqual(written, [
    '\r\u001B[Kmigrating: 1 of 1000, 999 remain, 1000/s, 1 rewritten',
    '\r\u001B[Kmigrating: 100 of 1000, 900 remain, 200/s, 100 rewritten',
    '\n',
  ]);
});

test('elsewhere a line now and then, and one at the end of each pass', () => {
  const { written, progress, at } = report('lines');
  progress.update(counts(1), 1);
  at(4_000);
  progress.update(counts(600), 1);
  at(5_000);
  progress.update(counts(900, 100), 1);
  at(5_100);
  progress.update(counts(0), 2);
  at(11_100);
  progress.update(counts(600), 2);
  progress.end();
  assert.deepEqual(written, [
    'migrating: 1 of 1000, 999 remain, 1000/s, 1 rewritten\n',
    'migrating: 1000 of 1000, 0 remain, 200/s, 900 rewritten, 100 refused\n',
    'checking: 600 of 1000, 400 remain, 100/s, 600 rewritten\n',
  ]);
});

test('as JSON lines', () => {
  const { written, progress, at } = report('json');
  at(10_000);
  progress.update(counts(500), 1);
  assert.deepEqual(
    written.map((line) => JSON.parse(line) as unknown),
    [{ pass: 1, done: 500, total: 1_000, rewritten: 500, refused: 0, remaining: 500, perSecond: 500_000 }],
  );
});
